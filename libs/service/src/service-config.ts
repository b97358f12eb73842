import {
  type CalledBy,
  calledBy,
  consumersOf,
  SERVICES,
  type ServiceName,
  type UrlSetting,
  urlSetting,
} from '@backoffice/contracts/services.ts'
import { KAFKA, refuseIncompleteKafka } from '@backoffice/messaging/kafka/kafka-settings.ts'
import { REGISTRY, refuseIncompleteRegistry } from '@backoffice/messaging/registry/registry-settings.ts'
import { APP_DATABASE, WORKER_DATABASE } from '@backoffice/postgres/database-settings.ts'
import { HttpUrl, ProcessConfig } from '@backoffice/runtime/config.ts'
import { z } from 'zod'
import { SIGNING, VERIFYING } from './service-tokens.ts'

const COMMON = {
  ...ProcessConfig.shape,
  ...APP_DATABASE,
  ...WORKER_DATABASE,
  DATABASE_POOL_SIZE: z.coerce
    .number()
    .int()
    .min(1)
    .default(10)
    .describe('Connections for requests at most, of each replica. Those for other work come on top.'),
  ...VERIFYING,
}

type Row<Name extends ServiceName> = (typeof SERVICES)[Name]
type TopicsOf<Name extends ServiceName> = Row<Name>['publishes'][number] | keyof Row<Name>['consumers']
/** `Shape` for a service that has some of `Items`. */
type If<Items, Shape> = [Items] extends [never] ? unknown : Shape

type CommonShape<Name extends ServiceName> = typeof COMMON &
  If<CalledBy<Name>, typeof SIGNING> &
  If<TopicsOf<Name>, typeof KAFKA> &
  If<Row<Name>['publishes'][number], typeof REGISTRY> & { [Called in CalledBy<Name> as UrlSetting<Called>]: z.ZodURL }

/** The common settings of one service, as `serviceConfig` reads them. */
export type ConfigOf<Name extends ServiceName> = z.output<z.ZodObject<CommonShape<Name>>>

/** The common settings of any service. */
export type ServiceConfig = z.output<z.ZodObject<typeof COMMON>> &
  Partial<z.output<z.ZodObject<typeof SIGNING & typeof KAFKA & typeof REGISTRY>>>

/**
 * The settings that follow from a service's row in SERVICES: those of all, keys and URLs when it calls others, the
 * brokers when it publishes or consumes, the registry when it publishes. A service extends them with its own.
 */
export function serviceConfig<Name extends ServiceName>(name: Name): z.ZodObject<CommonShape<Name>> {
  const { publishes } = SERVICES[name]
  const isPublisher = publishes.length > 0
  const shape = {
    ...COMMON,
    ...(calledBy(name).length > 0 && SIGNING),
    ...((isPublisher || consumersOf(name).length > 0) && KAFKA),
    ...(isPublisher && REGISTRY),
    ...Object.fromEntries(calledBy(name).map((called) => [urlSetting(called), urlOf(called)])),
  }
  const config = z.object(shape) as unknown as z.ZodObject<typeof COMMON & typeof KAFKA & typeof REGISTRY>
  return config.superRefine(refuseIncompleteKafka).superRefine(refuseIncompleteRegistry) as unknown as z.ZodObject<
    CommonShape<Name>
  >
}

const urlOf = (called: ServiceName) => HttpUrl.describe(`The address of ${called} inside the cluster: \`http://…\`.`)
