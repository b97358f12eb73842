import { SERVICE_NAMES, type ServiceName } from '@backoffice/contracts/services.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'

/**
 * Runs a one-shot command. Logs one line with what it has done. When it fails, logs the reason and exits with 1. Every
 * command may be interrupted and repeated.
 */
export async function runJob(name: string, job: () => Promise<object>): Promise<void> {
  const logger = createLogger(name, 'info')
  try {
    const done = await job()
    logger.info({ ...done, duration_ms: Math.round(process.uptime() * 1000) }, 'done')
  } catch (error) {
    logger.error({ err: error }, 'failed')
    process.exitCode = 1
  }
}

/** The services that the command line names; all without names. Throws for an unknown name. */
export function namedServices(names: readonly string[] = process.argv.slice(2)): readonly ServiceName[] {
  const unknown = names.filter((name) => !SERVICE_NAMES.some((known) => known === name))
  if (unknown.length > 0)
    throw new Error(`no such service: ${unknown.join(', ')}; there are ${SERVICE_NAMES.join(', ')}`)
  return names.length > 0 ? (names as ServiceName[]) : SERVICE_NAMES
}
