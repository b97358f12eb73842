import { expect, it } from 'vitest'
import { loggedError } from './logged-error.ts'

const EMAIL = 'ada@example.com'

/** An error of PostgreSQL as the driver throws it. */
const ofPostgres = (members: object) =>
  Object.assign(new Error(), { name: 'PostgresError', severity: 'ERROR', routine: '_bt_check_unique' }, members)

it('an error of PostgreSQL says code, table and constraint, and nothing of the row', () => {
  const logged = loggedError(
    ofPostgres({
      code: '23505',
      message: 'duplicate key value violates unique constraint "customer_email"',
      detail: `Key (email)=(${EMAIL}) already exists.`,
      where: `COPY customer, line 1: "${EMAIL}"`,
      hint: EMAIL,
      parameters: [EMAIL],
      query: `select '${EMAIL}'`,
      schema_name: 'orders',
      table_name: 'customer',
      constraint_name: 'customer_email',
    }),
  )
  expect(logged).toMatchObject({
    type: 'PostgresError',
    code: '23505',
    message: 'duplicate key value violates unique constraint "customer_email"',
    table: 'customer',
    constraint: 'customer_email',
  })
  expect(JSON.stringify(logged)).not.toContain(EMAIL)
})

it('a message that quotes values comes without them, in the stack too', () => {
  const error = ofPostgres({ code: '22P02', message: `invalid input syntax for type uuid: "${EMAIL}"` })
  error.stack = `PostgresError: ${error.message}\n    at query (database.ts:1:1)`
  expect(loggedError(error)).toMatchObject({
    message: 'invalid input syntax for type uuid: "…"',
    stack: '    at query (database.ts:1:1)',
  })
  expect(JSON.stringify(loggedError(error))).not.toContain(EMAIL)
})

it('causes and the errors of an aggregate are logged the same way, to an end', () => {
  const inner = ofPostgres({ code: '23505', message: 'duplicate key', detail: EMAIL })
  const logged = loggedError(new Error('outer', { cause: new AggregateError([inner, 'text'], 'both') }))
  expect(logged.cause).toMatchObject({ errors: [{ code: '23505' }, { type: 'string', message: 'text' }] })
  expect(JSON.stringify(logged)).not.toContain(EMAIL)
  const circle = new Error('circle')
  circle.cause = circle
  expect(JSON.stringify(loggedError(circle)).match(/circle/g)?.length).toBeGreaterThan(1)
})
