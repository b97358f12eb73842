import { deadline } from '@backoffice/runtime/deadline.ts'

/**
 * Waits for PostgreSQL, for so long at most: a server that hangs never answers. Then throws ETIMEDOUT, as for a server
 * that is away. The statement itself is not cancelled.
 */
export function answerWithin<Answer>(milliseconds: number, answer: Promise<Answer>): Promise<Answer> {
  const { promise: missed, reject } = Promise.withResolvers<never>()
  const late = () =>
    reject(Object.assign(new Error(`PostgreSQL has not answered within ${milliseconds} ms`), { code: 'ETIMEDOUT' }))
  return Promise.race([answer, missed]).finally(deadline(milliseconds, late))
}
