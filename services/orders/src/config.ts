import { serviceConfig } from '@backoffice/service/service-config.ts'

/** The settings of orders. */
export const OrdersConfig = serviceConfig('orders')
