import { ApiError } from '@backoffice/contracts/errors.ts'
import { TimestampInput } from '@backoffice/contracts/fields.ts'
import { PageQuery, pageOf } from '@backoffice/contracts/pagination.ts'
import { consumersOf, type ServiceName, schemaOf } from '@backoffice/contracts/services.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { noAnswerTo, problemWithKafka } from '@backoffice/messaging/kafka/kafka-errors.ts'
import { channelOf } from '@backoffice/messaging/relay/leadership.ts'
import { backlog, waitingByWorkspace } from '@backoffice/messaging/relay/outbox-rows.ts'
import { refusedRows, resendRefused } from '@backoffice/messaging/relay/refused-rows.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { isLockTimeout, isStatementTimeout, isUnavailable } from '@backoffice/postgres/postgres-errors.ts'
import { answeredOr } from '@backoffice/runtime/deadline.ts'
import { z } from 'zod'
import { DeadLetterContents, DeadLetterId } from './dead-letters/dead-letter.ts'
import {
  countDeadLetters,
  DeadLetterCounts,
  DeadLetterPage,
  DeadLetterQuery,
  readDeadLetter,
  readDeadLetters,
} from './dead-letters/read-dead-letters.ts'
import { Replayed, ReplayedLetters, replayDeadLetters } from './dead-letters/replay-dead-letters.ts'
import { OutboxState, RefusedRowIds, RefusedRowPage, Resent, RowId } from './outbox-answers.ts'

/** What the requests of operators work on, in one service. */
interface Answering {
  readonly name: ServiceName
  readonly kafka: Kafka
  readonly worker: Pick<Database, 'sql'>
}

/** How long Kafka may take to answer, in milliseconds: less than the gateway waits for one service of several. */
const KAFKA_WITHIN_MS = 4_000

/** Says when Kafka hangs: each reading of dead letters begins with offsets. */
const offsetsInTime = (name: ServiceName, kafka: Kafka): Kafka => ({
  ...kafka,
  offsetsAt(topics, time) {
    return answeredOr(KAFKA_WITHIN_MS, kafka.offsetsAt(topics, time), () => {
      throw unavailable(noAnswerTo(name), new Error(`no answer within ${KAFKA_WITHIN_MS} ms`))
    })
  },
})

const unavailable = (problem: string, cause: unknown) => new ApiError('service_unavailable', problem, { cause })

/** Names Kafka or PostgreSQL, if it is the cause of an error: operators ask a service for what both have. */
function named(name: ServiceName, error: unknown): unknown {
  const problem = problemWithKafka(error, name)
  if (problem !== undefined) return unavailable(problem, error)
  if (!isUnavailable(error) || isStatementTimeout(error) || isLockTimeout(error)) return error
  return unavailable(`PostgreSQL cannot serve ${name} now; try again`, error)
}

/**
 * What a service answers operators of its dead letters and its outbox, asked by the gateway (OP-295, OP-296). The paths
 * have no parameters: a service of a version before answers `not_found` to the path, and nothing else does.
 */
export function operatorRequests({ name, worker: { sql }, ...messaging }: Answering): readonly AnyOperation[] {
  const kafka = offsetsInTime(name, messaging.kafka)
  const Consumer = z.enum(consumersOf(name).map((consumer) => consumer.name))
  const requests: readonly AnyOperation[] = [
    operation({
      method: 'GET',
      path: '/internal/dead-letters/counts',
      scope: 'internal',
      query: z.strictObject({ since: TimestampInput }),
      responses: { 200: DeadLetterCounts },
      handle: async ({ query }) => ok(await countDeadLetters(kafka, sql, name, new Date(query.since))),
    }),
    operation({
      method: 'GET',
      path: '/internal/dead-letters',
      scope: 'internal',
      query: DeadLetterQuery.required({ since: true }).extend({ consumer: Consumer }),
      responses: { 200: DeadLetterPage },
      handle: async ({ query: { since, ...query } }) =>
        ok(await readDeadLetters(kafka, sql, { ...query, since: new Date(since), limit: pageOf(query).size })),
    }),
    operation({
      method: 'GET',
      path: '/internal/dead-letters/contents',
      scope: 'internal',
      query: z.strictObject({ id: DeadLetterId }),
      responses: { 200: z.strictObject({ letter: DeadLetterContents.nullable() }) },
      handle: async ({ query }) => ok({ letter: await readDeadLetter(kafka, sql, query.id) }),
    }),
    operation({
      method: 'POST',
      path: '/internal/dead-letters/replay',
      scope: 'internal',
      body: ReplayedLetters.extend({ consumer: Consumer }),
      responses: { 200: Replayed },
      handle: async ({ body: { consumer, ...chosen } }) => ok(await replayDeadLetters(kafka, sql, consumer, chosen)),
    }),
    operation({
      method: 'GET',
      path: '/internal/outbox',
      scope: 'internal',
      responses: { 200: OutboxState },
      async handle() {
        const { waiting, seconds, held, refused } = await backlog(sql)
        const workspaces = [...(await waitingByWorkspace(sql))]
        return ok({ waiting, oldest_seconds: Math.round(seconds), held, refused, workspaces })
      },
    }),
    operation({
      method: 'GET',
      path: '/internal/outbox/refused',
      scope: 'internal',
      query: PageQuery.pick({ limit: true }).extend({ after: RowId.optional() }),
      responses: { 200: RefusedRowPage },
      async handle({ query: { after, limit } }) {
        const { size } = pageOf({ limit })
        const rows = await refusedRows(sql, { after, limit: size + 1 })
        return ok({ items: rows.slice(0, size), has_next_page: rows.length > size })
      },
    }),
    operation({
      method: 'POST',
      path: '/internal/outbox/resend',
      scope: 'internal',
      body: RefusedRowIds,
      responses: { 200: Resent },
      async handle({ body: { ids = [] } }) {
        const resent = await resendRefused(sql, ids)
        // The relay that leads listens.
        await sql.notify(channelOf(schemaOf(name)), '')
        return ok({ resent })
      },
    }),
  ]
  return requests.map((request) => ({
    ...request,
    handle: (input) =>
      request.handle(input).catch((error: unknown) => {
        throw named(name, error)
      }),
  }))
}
