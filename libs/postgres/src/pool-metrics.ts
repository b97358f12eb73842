import { durations, gauge, upDownCounter } from '@backoffice/runtime/metrics.ts'

const connections = gauge('postgres_pool_connections', 'Connections that a pool may open')
const active = upDownCounter('postgres_transactions_active', 'Transactions that have a connection, by pool')
const waiting = upDownCounter(
  'postgres_transactions_waiting',
  'Transactions that wait for a connection, by pool, but for those whose workspace holds its share',
)
const wait = durations(
  'postgres_transaction_wait_seconds',
  'Wait of a transaction for a connection, by pool; also of one that got none',
)

/** Notes how many connections a pool has. */
export const measurePool = (pool: string, size: number): void => connections.record(size, { pool })

/**
 * Measures a transaction that waits for a connection of a pool from now on. `began` is called at most once, `ended`
 * once.
 */
export function measureTransaction(pool: string) {
  const labels = { pool }
  const askedAt = performance.now()
  let hasBegun = false
  waiting.add(1, labels)
  const endWait = () => {
    waiting.add(-1, labels)
    wait.record((performance.now() - askedAt) / 1000, labels)
  }
  return {
    began() {
      hasBegun = true
      endWait()
      active.add(1, labels)
    },
    ended() {
      if (hasBegun) active.add(-1, labels)
      else endWait()
    },
  }
}
