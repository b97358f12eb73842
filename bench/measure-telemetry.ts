import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import type { Api } from './api.ts'
import { secondsOf } from './cpu-time.ts'
import { closedLoop, percentile } from './load.ts'
import { aProduct } from './products.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { type BenchStack, startStack } from './stack.ts'
import type { Row } from './table.ts'

/** The share of recorded traces of each stack; undefined: no telemetry. The first two are equal and show the noise. */
const SHARES = [undefined, undefined, 0.1, 1] as const
/** Each round has a turn of every stack, in another order each time, since the speed of the machine varies. */
const ROUNDS = 15
const CREATES = 150
const READS = 600
const CONCURRENCY = 16

interface Subject {
  readonly share: number | undefined
  readonly stack: BenchStack
  readonly api: Api
}

/** What one turn measured. */
interface Turn {
  readonly perSecond: number
  /** CPU milliseconds of all services per request. */
  readonly cpu: number
}

type NewWorkspace = (description: StackDescription) => Promise<{ readonly api: Api }>

/**
 * Creates with their webhooks, and reads, on stacks with and without traces, side by side: they share Kafka and the
 * registry of the running stack. Ratios are medians over the rounds, of turns next to each other. All reads come after
 * all creates, so that they do not pay for what follows a create in the background.
 */
export async function measureTelemetry(running: StackDescription, newWorkspace: NewWorkspace): Promise<Row[]> {
  const webhooks = await startReceiver()
  const collector = fork(fileURLToPath(new URL('collector-process.ts', import.meta.url)))
  const [collectorUrl] = (await once(collector, 'message')) as [string]
  const subjects: Subject[] = []
  try {
    for (const share of SHARES) {
      const stack = await startStack(environmentOf(running, collectorUrl, share))
      const { api } = await newWorkspace(stack.description)
      await api.post('/v1/webhooks', { url: webhooks.url(0), enabled_events: ['product.created'] })
      subjects.push({ share, stack, api })
    }
    const creates = await takeTurns(subjects, (subject) => create(subject, webhooks))
    const reads = await takeTurns(subjects, read)
    return SHARES.flatMap((share, index) =>
      index === 0
        ? []
        : [...rowsOf('creates with their webhooks', share, index, creates), ...rowsOf('reads', share, index, reads)],
    )
  } finally {
    for (const { api, stack } of subjects) {
      await api.close()
      await stack.stop()
    }
    webhooks.stop()
    collector.kill()
  }
}

const environmentOf = (running: StackDescription, collectorUrl: string, share: number | undefined) => ({
  KAFKA_BROKERS: running.kafka.join(','),
  SCHEMA_REGISTRY_URL: running.registry,
  KAFKA_PREFIX: `bench-${randomUUID()}.`,
  ...(share !== undefined && {
    OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(share),
  }),
})

/** The turns of each round, in the order of the subjects; a first round warms up. */
async function takeTurns(subjects: readonly Subject[], take: (subject: Subject) => Promise<Turn>): Promise<Turn[][]> {
  for (const subject of subjects) await take(subject)
  const rounds: Turn[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    const turns: Turn[] = []
    for (let at = 0; at < subjects.length; at++) {
      const index = (at + round) % subjects.length
      turns[index] = await take(subjects[index] as Subject)
    }
    rounds.push(turns)
  }
  return rounds
}

/** Creates products; ends when the last webhook has arrived. */
async function create({ stack, api }: Subject, webhooks: Receiver): Promise<Turn> {
  await webhooks.begin(true)
  return measured(stack, CREATES, async () => {
    await closedLoop(CREATES, CONCURRENCY, () => api.post('/v1/products', aProduct(3)))
    await webhooks.until(CREATES)
  })
}

async function read({ stack, api }: Subject): Promise<Turn> {
  const { id } = await api.post<{ id: string }>('/v1/products', aProduct(3))
  return measured(stack, READS, () => closedLoop(READS, CONCURRENCY, () => api.get(`/v1/products/${id}`)))
}

async function measured(stack: BenchStack, count: number, work: () => Promise<unknown>): Promise<Turn> {
  const cpu = () => Object.values(stack.now().services).reduce((sum, { pid }) => sum + secondsOf(pid), 0)
  const [begunAt, cpuBefore] = [performance.now(), cpu()]
  await work()
  return { perSecond: (count * 1000) / (performance.now() - begunAt), cpu: ((cpu() - cpuBefore) * 1000) / count }
}

function rowsOf(what: string, share: number | undefined, index: number, rounds: readonly Turn[][]): Row[] {
  const how = share === undefined ? 'without telemetry again' : `${share * 100} % of traces`
  const row = (name: string, unit: string, member: keyof Turn, bound: string) => {
    const of = (turn: Turn | undefined) => turn?.[member] ?? Number.NaN
    const median = (values: number[]) => percentile(values, 0.5)
    const [off, on] = [median(rounds.map(([first]) => of(first))), median(rounds.map((turns) => of(turns[index])))]
    const ratio = median(rounds.map((turns) => of(turns[index]) / of(turns[0])))
    const shown = (value: number) => `${value.toFixed(unit === '/s' ? 0 : 2)}${unit}`
    return { name: `${name}, ${how}`, measured: shown(on), floor: shown(off), ratio, bound }
  }
  return [
    row(what, '/s', 'perSecond', share === 0.1 ? '≥ 0.95' : ''),
    row(`CPU of the services: ${what}`, ' ms', 'cpu', share === 0.1 ? '≤ 1.05' : ''),
  ]
}
