import { notFound } from '@backoffice/contracts/errors.ts'
import { consumersOf, SERVICE_NAMES, type ServiceName } from '@backoffice/contracts/services.ts'
import { z } from 'zod'

export const ConsumerParams = z.strictObject({ consumer: z.string() })

/** The service of a consumer. Throws `not_found`. */
export function serviceOf(consumer: string): ServiceName {
  const service = SERVICE_NAMES.find((name) => consumersOf(name).some((one) => one.name === consumer))
  if (service === undefined) throw notFound([], `Consumer ${consumer} does not exist`)
  return service
}

const DAY_MS = 24 * 60 * 60 * 1000

/** What operators ask for first. Kafka keeps dead letters longer (contracts/topics.ts). */
export const lastWeek = (now: Date): string => new Date(now.getTime() - 7 * DAY_MS).toISOString()
