import type { RoutedService } from '@backoffice/contracts/services.ts'
import { openApiDocument } from '@backoffice/http/openapi.ts'
import type { AnyOperation } from '@backoffice/http/operation.ts'
import { operations as apps } from '../../services/apps/src/operations.ts'
import { operations as catalog } from '../../services/catalog/src/operations.ts'
import { operations as collections } from '../../services/collections/src/operations.ts'
import { adminDocument, withDocument } from '../../services/gateway/src/admin/admin-document.ts'
import { adminOperations, ownOperations as gateway } from '../../services/gateway/src/operations.ts'
import { mergeDocuments, type PartialDocument } from '../../services/gateway/src/public/docs/merge-documents.ts'
import { operations as imports } from '../../services/imports/src/operations.ts'
import { operations as orders } from '../../services/orders/src/operations.ts'
import { operations as webhookDelivery } from '../../services/webhook-delivery/src/operations.ts'

/** Stands for what operations use when they run. Their declarations use none of it. */
const nothing = {} as never

/** Every operation of `/v1`, and those between services. */
export const OPERATIONS: Readonly<Record<RoutedService | 'gateway', readonly AnyOperation[]>> = {
  catalog: catalog(nothing),
  collections: collections(nothing),
  orders: orders(nothing, nothing, nothing, nothing, nothing),
  imports: imports(nothing, nothing, nothing),
  apps: apps({ policy: { allowLoopback: false } } as never),
  'webhook-delivery': webhookDelivery({ policy: { allowLoopback: false } } as never),
  gateway: gateway({
    standardLimit: { perSecond: 100, burst: 200 },
    upstreams: nothing,
    signer: nothing,
    db: nothing,
    worker: nothing,
  }),
}

/** Stands for the address of a deployment, which a gateway puts in its place. */
const SERVER = 'https://api.backoffice.example'

/** The OpenAPI document as the gateway serves it, made without services. Throws where the gateway would refuse it. */
export const wholeDocument = () =>
  mergeDocuments(
    Object.values(OPERATIONS).map((operations) => openApiDocument(operations) as unknown as PartialDocument),
    SERVER,
  )

/** The document of the admin API, as the gateway serves it. */
export const operatorsDocument = () => adminDocument(withDocument(adminOperations))
