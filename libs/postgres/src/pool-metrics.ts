import { durations, gauge, upDownCounter } from '@backoffice/runtime/metrics.ts'

const connections = gauge('postgres_pool_connections', 'Connections that a pool may open')
const active = upDownCounter('postgres_transactions_active', 'Transactions that have a connection, by pool')
const waiting = upDownCounter('postgres_transactions_waiting', 'Transactions that wait for a connection, by pool')
const wait = durations(
  'postgres_transaction_wait_seconds',
  'Wait of a transaction for a connection, by pool; also of one that got none',
)

/** Notes how many connections a pool has. */
export const measurePool = (pool: string, size: number): void => connections.record(size, { pool })

export type MeasuredTransaction = ReturnType<typeof measureTransaction>

/** Measures a transaction that waits for a connection of a pool from now on. `began` and `ended` count once each. */
export function measureTransaction(pool: string) {
  const labels = { pool }
  const askedAt = performance.now()
  let state: 'WAITS' | 'ACTIVE' | 'ENDED' = 'WAITS'
  waiting.add(1, labels)
  const endWait = () => {
    waiting.add(-1, labels)
    wait.record((performance.now() - askedAt) / 1000, labels)
  }
  return {
    began() {
      if (state !== 'WAITS') return
      endWait()
      active.add(1, labels)
      state = 'ACTIVE'
    },
    ended() {
      if (state === 'WAITS') endWait()
      if (state === 'ACTIVE') active.add(-1, labels)
      state = 'ENDED'
    },
  }
}
