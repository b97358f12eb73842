import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { newNeighbour } from '@backoffice/tests/attacks/neighbour.ts'
import { ordinaryTraffic, type Seen } from '@backoffice/tests/attacks/ordinary-traffic.ts'
import { startAttack } from '@backoffice/tests/attacks/start-attack.ts'
import { percentile } from './load.ts'
import type { Row } from './table.ts'

/** Calls of ten seconds. */
const CALLS = 250
const WARM_UP = 50
const RECOVERY_MS = 120_000

/** What a workspace sees of its calls and webhooks while another one attacks, beside what it saw before. */
export async function measureNeighbour(attack: string, stack: StackDescription): Promise<Row[]> {
  const neighbour = await newNeighbour(stack)
  await neighbour.untilServed(RECOVERY_MS)
  await ordinaryTraffic(neighbour, WARM_UP)
  const idle = await ordinaryTraffic(neighbour, CALLS)
  const end = await startAttack(attack, stack)
  const beside = await ordinaryTraffic(neighbour, CALLS).finally(end)
  await neighbour.untilServed(RECOVERY_MS)
  neighbour.stop()
  const refusals = beside.refused.length === 0 ? '' : `, ${beside.refused.length} refused`
  return [
    rowOf(`calls while another ${attack}`, idle.calls, beside.calls, refusals),
    rowOf(`webhooks while another ${attack}`, idle.webhooks, beside.webhooks),
  ]
}

const rowOf = (name: string, idle: Seen['calls'], beside: Seen['calls'], refusals = ''): Row => ({
  name,
  measured: figuresOf(beside) + refusals,
  floor: `${figuresOf(idle)} idle`,
  ratio: percentile(beside, 0.99) / percentile(idle, 0.99),
  bound: 'ratio ≤ 2',
})

const figuresOf = (times: readonly number[]) => `p50 ${figure(times, 0.5)}, p99 ${figure(times, 0.99)}`

function figure(times: readonly number[], share: number): string {
  const time = percentile(times, share)
  return Number.isFinite(time) ? `${time.toFixed(1)} ms` : 'never'
}
