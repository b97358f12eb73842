import type { LockSession } from '@backoffice/postgres/lock-session.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { type OutboxRow, type RecordKind, waitingRows } from './outbox-rows.ts'
import type { StateThrottle } from './state-throttle.ts'

/** The limits of a round; the first row of each kind may exceed them. Requests and new events wait for its end. */
interface RoundLimits {
  readonly rows: number
  /** Bytes of payload as PostgreSQL stores it, compressed. */
  readonly bytes: number
  /** Bytes of payload as they are sent. */
  readonly sentBytes: number
}

const ROUND: RoundLimits = { rows: 500, bytes: 256 * 1024, sentBytes: 900 * 1024 }
/** So many other records at least, while requests come: sending them takes some 20 ms. */
const BESIDE_REQUESTS: RoundLimits = { rows: 80, bytes: 48 * 1024, sentBytes: 128 * 1024 }
/** The part of a round that events may fill. So even endless events leave room for states. */
const EVENTS_PART = 0.75
/** A statement that finds so few rows and bytes has found all: all its limits are larger. */
const FEW: Pick<RoundLimits, 'rows' | 'bytes'> = { rows: 5, bytes: 8 * 1024 }
/** No workspace was served yet. */
const BEFORE_FIRST_WORKSPACE = '00000000-0000-0000-0000-000000000000'

interface Round {
  readonly rows: OutboxRow[]
  /** Whether these are all that waited when it began, as far as it can tell; except those of paused workspaces. */
  readonly isAll: boolean
}

/**
 * Reads the outbox in rounds: first events, then other records. Each kind goes round robin over the workspaces,
 * measured in bytes. So a workspace with a million states delays the records of another one by one round at most. An
 * empty round means that no rows wait, except those of workspaces that `throttle` pauses.
 */
export function outboxRounds(
  session: LockSession,
  throttle?: Pick<StateThrottle, 'paused' | 'count'>,
  hasRequests = () => false,
): () => Promise<Round> {
  const servedLast: Record<RecordKind, string> = { EVENTS: BEFORE_FIRST_WORKSPACE, OTHERS: BEFORE_FIRST_WORKSPACE }

  const read = async (kind: RecordKind, limits: RoundLimits, except: readonly string[] = []) => {
    const found = await session.answered(waitingRows(session.sql, { kind, after: servedLast[kind], ...limits, except }))
    const [rows = []] = partsOf(found, limits.sentBytes, ({ payload }) => sentBytes(payload))
    servedLast[kind] = rows.at(-1)?.workspace_id ?? BEFORE_FIRST_WORKSPACE
    const isAll =
      found.length <= FEW.rows && rows.length === found.length && sumOf(found, ({ bytes }) => bytes) <= FEW.bytes
    return { rows: smallFirst(rows), isAll }
  }
  return async () => {
    const events = await read('EVENTS', partOf(ROUND, EVENTS_PART))
    const others = await read('OTHERS', limitsOfOthers(events.rows, hasRequests()), await throttle?.paused())
    const rows = [...events.rows, ...others.rows]
    throttle?.count(rows)
    return { rows, isAll: events.isAll && others.isAll }
  }
}

/** The workspaces with fewer bytes first, so that a small event does not wait while a large one is sent. */
function smallFirst(rows: readonly OutboxRow[]): OutboxRow[] {
  const ofWorkspaces = [...Map.groupBy(rows, ({ workspace_id }) => workspace_id).values()]
  const bytesOf = (own: readonly OutboxRow[]) => sumOf(own, ({ bytes }) => bytes)
  return ofWorkspaces.toSorted((one, other) => bytesOf(one) - bytesOf(other)).flat()
}

const sumOf = (rows: readonly OutboxRow[], sizeOf: (row: OutboxRow) => number) =>
  rows.reduce((sum, row) => sum + sizeOf(row), 0)
const sentBytes = (payload: string | null) => (payload === null ? 0 : Buffer.byteLength(payload))

const partOf = ({ rows, bytes, sentBytes }: RoundLimits, part: number): RoundLimits => ({
  rows: Math.floor(rows * part),
  bytes: Math.floor(bytes * part),
  sentBytes: Math.floor(sentBytes * part),
})

/**
 * The limits for other records: what the events leave of the round, and at least the part that events may not fill.
 * While requests come, whose events wait for the round's end, no more than events: each change has one of both.
 */
function limitsOfOthers(events: readonly OutboxRow[], hasRequests: boolean): RoundLimits {
  const least = hasRequests ? BESIDE_REQUESTS : partOf(ROUND, 1 - EVENTS_PART)
  const sizes = {
    rows: events.length,
    bytes: sumOf(events, ({ bytes }) => bytes),
    sentBytes: sumOf(events, ({ payload }) => sentBytes(payload)),
  }
  const limitOf = (what: keyof RoundLimits) =>
    Math.max(least[what], hasRequests ? sizes[what] : ROUND[what] - sizes[what])
  return { rows: limitOf('rows'), bytes: limitOf('bytes'), sentBytes: limitOf('sentBytes') }
}
