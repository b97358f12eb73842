import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

/** The command line of `npm start` or one of its variables is wrong. */
export class UsageError extends Error {}

export const USAGE = `usage: npm start [-- --fresh] [-- --headless]

Runs the whole system on this machine until Ctrl-C: PostgreSQL, Kafka, the schema registry and every service.

  --fresh     deletes the data of earlier starts first
  --headless  prints no lines of the services
  --help      prints this text

Variables:
  PORT        the gateway's port, 8080 unless set; 0 takes a free one
  STACK_DIR   the folder of the data and of stack.json, .local unless set
  DATABASE_URL, KAFKA_BROKERS, SCHEMA_REGISTRY_URL
              use this PostgreSQL, Kafka or schema registry instead of starting one
  any setting of docs/configuration.md, such as PLATFORM_ISSUER
              in place of the stack's own value
  SERVICES_DIRECTORY
              start the services from the trees of images in this folder (infra/docker/assemble.ts)`

/** The options of `npm start`. */
export type StartOptions = ReturnType<typeof startOptions>

/** Reads the command line and the variables of `npm start`. Throws UsageError for the first one that is wrong. */
export function startOptions(args: readonly string[], { PORT, STACK_DIR }: NodeJS.ProcessEnv) {
  const flags = readFlags(args)
  const port = PORT ? Number(PORT) : 8080
  if (!/^\d*$/.test(PORT ?? '') || port > 65_535)
    throw new UsageError(`PORT=${PORT} is not a port: set a number from 0 to 65535, such as PORT=8081`)
  return { ...flags, port, directory: resolve(STACK_DIR || '.local') }
}

const FLAG = { type: 'boolean', default: false } as const

function readFlags(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { fresh: FLAG, headless: FLAG, help: { ...FLAG, short: 'h' } } })
      .values
  } catch (error) {
    // Node's second sentence is advice that is wrong for npm scripts.
    throw new UsageError((error as Error).message.split('. ')[0])
  }
}
