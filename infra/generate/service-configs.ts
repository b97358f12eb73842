import type { ServiceName } from '@backoffice/contracts/services.ts'
import { AppsConfig } from '../../services/apps/src/config.ts'
import { CatalogConfig } from '../../services/catalog/src/config.ts'
import { CollectionsConfig } from '../../services/collections/src/config.ts'
import { GatewayConfig } from '../../services/gateway/src/config.ts'
import { ImportsConfig } from '../../services/imports/src/config.ts'
import { OrdersConfig } from '../../services/orders/src/config.ts'
import { WebhookDeliveryConfig } from '../../services/webhook-delivery/src/config.ts'

/** The settings of every service, as its process reads them. */
export const CONFIGS = {
  gateway: GatewayConfig,
  catalog: CatalogConfig,
  collections: CollectionsConfig,
  orders: OrdersConfig,
  imports: ImportsConfig,
  apps: AppsConfig,
  'webhook-delivery': WebhookDeliveryConfig,
} as const satisfies Record<ServiceName, unknown>
