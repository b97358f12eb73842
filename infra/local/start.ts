import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readableLine } from './log-line.ts'
import { type Stack, startStack } from './stack.ts'
import { StackError } from './stack-error.ts'
import { printLine, seconds, step } from './steps.ts'

/** `npm start`: runs the whole system on this machine until Ctrl-C. */
const startedAt = performance.now()
let stop = async () => {}
let isStopping = false

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stopAndExit)
// The bootstrap is gone, and with it whoever could have stopped this process.
process.on('disconnect', stopAndExit)
process.channel?.unref()
// Whoever read the log has gone; the stack goes on.
process.stdout.on('error', () => {})

try {
  const options = readOptions()
  printLine('starting the stack')
  const stack = await startStack({ ...options, step, print: printLine }, (stopStack) => {
    stop = stopStack
  })
  printReady(stack, options.directory)
} catch (error) {
  if (!isStopping) await fail(error)
}

function readOptions() {
  const { values } = parseArgs({
    options: { fresh: { type: 'boolean', default: false }, headless: { type: 'boolean', default: false } },
  })
  const port = Number(process.env.PORT || 8080)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new StackError(`PORT=${process.env.PORT} is no port`)
  return {
    directory: resolve(process.env.STACK_DIR || '.local'),
    port,
    fresh: values.fresh,
    onServiceLine: values.headless ? () => {} : (name: string, line: string) => printLine(readableLine(name, line)),
  }
}

/** Ctrl-C reaches this process twice, once passed on by the bootstrap. */
async function stopAndExit(): Promise<void> {
  if (isStopping) return
  isStopping = true
  printLine('stopping')
  await stop()
  printLine('stopped')
  process.exit(0)
}

async function fail(error: unknown): Promise<never> {
  isStopping = true
  const reason = error instanceof StackError ? error.message : (error as Error).stack
  printLine(`could not start: ${reason}`, process.stderr)
  await stop()
  process.exit(1)
}

function printReady({ description, product }: Stack, directory: string): void {
  const { gateway, workspaces, admin_token } = description
  const key = workspaces.find(({ livemode }) => livemode)?.key
  const curl = `curl -s -H 'Authorization: Bearer ${key}'`
  const json = `-H 'Content-Type: application/json'`
  const product2 =
    '{"type":"SIMPLE_PRODUCT","status":"ACTIVE","name":"Tea towel","sku":"TOWEL-1","price":{"USD":1500},"stock":10}'
  printLine(`
ready in ${seconds(startedAt)}: ${gateway} (its API: ${gateway}/docs)

  live key     ${key}
  sandbox key  ${workspaces.find(({ livemode }) => !livemode)?.key}
  admin token  ${admin_token}

try:
  ${curl} ${gateway}/v1/products/${product}
  ${curl} ${json} -d '${product2}' ${gateway}/v1/products
  ${curl} ${gateway}/v1/webhooks/event-types

Ctrl-C stops everything. Data and stack.json are in ${directory}; npm start -- --fresh forgets the data.
`)
}
