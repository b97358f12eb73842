import { meter, SECONDS } from '@backoffice/runtime/metrics.ts'

const postgres = meter('postgres')
const connections = postgres.createGauge('postgres_pool_connections', {
  description: 'Connections that a pool may open',
})
const active = postgres.createUpDownCounter('postgres_transactions_active', {
  description: 'Transactions that have a connection, by pool',
})
const waiting = postgres.createUpDownCounter('postgres_transactions_waiting', {
  description: 'Transactions that wait for a connection, by pool',
})
const wait = postgres.createHistogram('postgres_transaction_wait_seconds', {
  description: 'Wait of a transaction for a connection, by pool; also of one that got none',
  unit: 's',
  advice: { explicitBucketBoundaries: SECONDS },
})

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
