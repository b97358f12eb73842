import { StackError } from '@backoffice/testing/processes/stack-error.ts'
import { readableLine } from './log-line.ts'
import { type Stack, startStack } from './stack.ts'
import { type StartOptions, startOptions, USAGE, UsageError } from './start-options.ts'
import { printLine, seconds, step } from './steps.ts'

/** `npm start`: runs the whole system on this machine until Ctrl-C. */
const startedAt = performance.now()
const options = readOptions()
let stop = async () => {}
let isStopping = false

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stopAndExit)
// The bootstrap has ended: nothing else could stop this process.
process.on('disconnect', stopAndExit)
process.channel?.unref()
// The reader of the log has ended; the stack goes on.
process.stdout.on('error', () => {})

try {
  printLine('starting the stack')
  const { directory, headless } = options
  const onServiceLine = (name: string, line: string) => {
    if (!headless) printLine(readableLine(name, line))
  }
  const stack = await startStack({ ...options, onServiceLine, step, print: printLine }, (stopStack) => {
    stop = stopStack
  })
  printReady(stack, directory)
} catch (error) {
  if (!isStopping) await fail(error)
}

/** Ends the process after printing the usage, when that is asked for or when an argument or a variable is wrong. */
function readOptions(): StartOptions {
  try {
    const options = startOptions(process.argv.slice(2), process.env)
    if (!options.help) return options
    console.log(USAGE)
    process.exit(0)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`${error.message}\n\n${USAGE}`)
    process.exit(2)
  }
}

/** Ctrl-C reaches this process twice: from the terminal and from the bootstrap. */
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

function printReady({ description, product, consoleUrl }: Stack, directory: string): void {
  const { gateway, workspaces, admin_token } = description
  const key = workspaces.find(({ livemode }) => livemode)?.key
  const curl = `curl -s -H 'Authorization: Bearer ${key}'`
  const json = `-H 'Content-Type: application/json'`
  const product2 =
    '{"type":"SIMPLE_PRODUCT","status":"ACTIVE","name":"Tea towel","sku":"TOWEL-1","price":{"USD":1500},"stock":10}'
  printLine(`
ready in ${seconds(startedAt)}: ${gateway} (its API: ${gateway}/docs)

  Console      ${consoleUrl}
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
