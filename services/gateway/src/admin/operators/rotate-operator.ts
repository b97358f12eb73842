import { conflict, notFound } from '@backoffice/contracts/errors.ts'
import { created } from '@backoffice/http/reply.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { endSessionsOfOperator } from '../../credentials/console/console-sessions.ts'
import { type Act, adminOperation } from '../admin-operation.ts'
import { RotateKeyBody } from '../keys/rotate-key.ts'
import { endSupportOf } from '../support/end-support-session.ts'
import { IssuedToken, issueToken } from './issue-token.ts'

/**
 * POST /admin/v1/operators/{id}/rotate (OP-86): creates a token with the same name, and revokes the old one at once or
 * after `overlap_seconds`. Sessions of this operator, of support and of the console, end at once. Throws `conflict` for
 * a token that is revoked or has been rotated.
 */
export const rotateOperator = adminOperation({
  method: 'POST',
  path: '/admin/v1/operators/{id}/rotate',
  summary: 'Replace an operator token by a new one',
  body: RotateKeyBody,
  responses: { 201: IssuedToken },

  handle({ params, body, now, actOnPlatform }) {
    const id = newId()
    const acts: Act[] = [
      { action: 'operator.rotated', target: `operators/${params.id}` },
      { action: 'operator.created', target: `operators/${id}` },
    ]
    return actOnPlatform(acts, async (tx) => {
      const name = await retireToken(tx, params.id, body.overlap_seconds)
      await endSupportOf(tx, name)
      await endSessionsOfOperator(tx, name)
      return created(await issueToken(tx, { id, name, replaces: params.id }, now))
    })
  },
})

/** The operator's name. The row's lock lets one of several simultaneous rotations through. */
async function retireToken(sql: AnySql, id: string, overlapSeconds: number): Promise<string> {
  const [retired] = await sql<{ name: string }[]>`
    update operator_token set revoked_at = clock_timestamp() + make_interval(secs => ${overlapSeconds})
    where id = ${id} and revoked_at is null
    returning name`
  if (retired !== undefined) return retired.name
  const [known] = await sql<{ next: string | null }[]>`
    select next.id as next from operator_token as token left join operator_token as next on next.replaces = token.id
    where token.id = ${id}`
  if (known === undefined) throw unknownOperator(id)
  if (known.next === null) throw conflict([], `Operator token ${id} has been deleted`)
  throw conflict([], `Operator token ${id} has been rotated; if the new token was lost, rotate ${known.next}`)
}

export const unknownOperator = (id: string) => notFound([], `Operator token ${id} does not exist`)
