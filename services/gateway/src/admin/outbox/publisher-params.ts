import { SERVICE_NAMES, SERVICES, type ServiceName } from '@backoffice/contracts/services.ts'
import { z } from 'zod'

/** The services that have an outbox. */
export const PUBLISHERS: readonly ServiceName[] = SERVICE_NAMES.filter((name) => SERVICES[name].publishes.length > 0)

export const PublisherParams = z.strictObject({ service: z.enum(PUBLISHERS) })
