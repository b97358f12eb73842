import { deadline } from '@backoffice/runtime/deadline.ts'

/**
 * Waits for an answer of PostgreSQL, for `milliseconds` at most. Then throws an error with code ETIMEDOUT, as for a
 * server that is away: a server that hangs keeps its connections open and never answers. The statement itself is not
 * cancelled.
 */
export function answerWithin<Answer>(milliseconds: number, answer: Promise<Answer>): Promise<Answer> {
  const { promise: missed, reject } = Promise.withResolvers<never>()
  const late = () =>
    reject(Object.assign(new Error(`PostgreSQL has not answered within ${milliseconds} ms`), { code: 'ETIMEDOUT' }))
  return Promise.race([answer, missed]).finally(deadline(milliseconds, late))
}
