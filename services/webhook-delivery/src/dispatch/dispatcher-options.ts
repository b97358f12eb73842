import type { Connections } from '@backoffice/outbound/connections.ts'
import type { DueReaderOptions } from '../queue/due-reader.ts'
import type { OwnershipOptions } from '../shards/ownership.ts'

/** What the dispatcher is given. Its parts take what they need of it. */
export interface DispatcherOptions
  extends Pick<DueReaderOptions, 'sql' | 'directory' | 'logger' | 'clock'>,
    Pick<OwnershipOptions, 'server' | 'processNumber' | 'onDied'> {
  readonly agent: Connections
  /** Delay before each attempt in milliseconds (spec: Retries 2). */
  readonly schedule: readonly number[]
  /** A 2xx counts only within this many milliseconds (spec: Retries 1). */
  readonly timeoutMs?: number
  /** From 0 to 1. */
  readonly random?: () => number
}
