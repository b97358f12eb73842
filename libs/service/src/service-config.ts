import {
  type CalledBy,
  calledBy,
  consumersOf,
  SERVICES,
  type ServiceName,
  type UrlSetting,
  urlSetting,
} from '@backoffice/contracts/services.ts'
import { List, ProcessConfig } from '@backoffice/runtime/config.ts'
import { z } from 'zod'

const COMMON = {
  ...ProcessConfig.shape,
  /** Connects as the app role. */
  DATABASE_URL: z.url(),
  /** Connects as the worker role. */
  WORKER_DATABASE_URL: z.url(),
}
/** The public key of the gateway, base64 DER SPKI. Services with routes need it. */
const ROUTED = { INTERNAL_TOKEN_PUBLIC_KEY: z.string() }
/** Of a service that publishes or consumes. The prefix goes before the name of every topic and consumer group. */
const KAFKA = { KAFKA_BROKERS: List, KAFKA_PREFIX: z.string().default('') }
/** Of a service that publishes. */
const PUBLISHER = { SCHEMA_REGISTRY_URL: z.url() }

type Row<Name extends ServiceName> = (typeof SERVICES)[Name]
type TopicsOf<Name extends ServiceName> = Row<Name>['publishes'][number] | keyof Row<Name>['consumers']
/** `Shape` for a service that has some of `Items`. */
type If<Items, Shape> = [Items] extends [never] ? unknown : Shape

type CommonShape<Name extends ServiceName> = typeof COMMON &
  If<Row<Name>['routes'][number], typeof ROUTED> &
  If<TopicsOf<Name>, typeof KAFKA> &
  If<Row<Name>['publishes'][number], typeof PUBLISHER> & { [Called in CalledBy<Name> as UrlSetting<Called>]: z.ZodURL }

/** The common settings of one service, as `serviceConfig` reads them. */
export type ConfigOf<Name extends ServiceName> = z.output<z.ZodObject<CommonShape<Name>>>

/** The common settings of any service. */
export type ServiceConfig = z.output<z.ZodObject<typeof COMMON>> &
  Partial<z.output<z.ZodObject<typeof ROUTED & typeof KAFKA & typeof PUBLISHER>>>

/**
 * The settings that follow from a service's row in SERVICES: port, log level and databases; the brokers when it publishes
 * or consumes; the schema registry when it publishes; the URL of each service it calls. A service extends them with its own.
 */
export function serviceConfig<Name extends ServiceName>(name: Name): z.ZodObject<CommonShape<Name>> {
  const { routes, publishes } = SERVICES[name]
  const isPublisher = publishes.length > 0
  const shape = {
    ...COMMON,
    ...(routes.length > 0 && ROUTED),
    ...((isPublisher || consumersOf(name).length > 0) && KAFKA),
    ...(isPublisher && PUBLISHER),
    ...Object.fromEntries(calledBy(name).map((called) => [urlSetting(called), z.url()])),
  }
  return z.object(shape) as unknown as z.ZodObject<CommonShape<Name>>
}
