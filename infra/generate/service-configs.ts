import type { ServiceName } from '@backoffice/contracts/services.ts'
import type { Pools } from '@backoffice/service/service-pools.ts'
import { AppsConfig } from '../../services/apps/src/config.ts'
import { POOLS as apps } from '../../services/apps/src/pools.ts'
import { CatalogConfig } from '../../services/catalog/src/config.ts'
import { POOLS as catalog } from '../../services/catalog/src/pools.ts'
import { CollectionsConfig } from '../../services/collections/src/config.ts'
import { POOLS as collections } from '../../services/collections/src/pools.ts'
import { GatewayConfig } from '../../services/gateway/src/config.ts'
import { POOLS as gateway } from '../../services/gateway/src/pools.ts'
import { ImportsConfig } from '../../services/imports/src/config.ts'
import { POOLS as imports } from '../../services/imports/src/pools.ts'
import { OrdersConfig } from '../../services/orders/src/config.ts'
import { POOLS as orders } from '../../services/orders/src/pools.ts'
import { WebhookDeliveryConfig } from '../../services/webhook-delivery/src/config.ts'
import { POOLS as webhookDelivery } from '../../services/webhook-delivery/src/pools.ts'

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

/** The connections to PostgreSQL of every service besides those for requests. */
export const POOLS: Readonly<Record<ServiceName, Pools>> = {
  gateway,
  catalog,
  collections,
  orders,
  imports,
  apps,
  'webhook-delivery': webhookDelivery,
}
