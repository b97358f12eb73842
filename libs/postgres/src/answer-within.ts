import { answeredOr } from '@backoffice/runtime/deadline.ts'

/**
 * Waits for PostgreSQL, for so long at most: a server that hangs never answers. Then throws ETIMEDOUT, as for a server
 * that is away. The statement itself is not cancelled.
 */
export const answerWithin = <Answer>(milliseconds: number, answer: Promise<Answer>): Promise<Answer> =>
  answeredOr(milliseconds, answer, () => {
    throw Object.assign(new Error(`PostgreSQL has not answered within ${milliseconds} ms`), { code: 'ETIMEDOUT' })
  })
