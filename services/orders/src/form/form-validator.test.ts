import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { FormValidator } from './form-validator.ts'
import { LARGE, SLOW, SLOW_TO_COMPILE } from './testing/costly-forms.ts'

const EASY = { schema: { required: ['note'] }, members: { note: 'a' } }

/** For tests of turns, which orders that are too costly for it take as well. */
const budgetMs = { schema: 250, order: 150 }

function validator(options?: ConstructorParameters<typeof FormValidator>[0]): FormValidator {
  // A busy machine starts a thread within this time.
  const forms = new FormValidator({ waitMs: 600_000, ...options })
  whenDone(() => forms.stop())
  return forms
}

const check = (forms: FormValidator, workspaceId: string, { schema, members }: { schema: object; members: object }) =>
  forms.checkOrder(workspaceId, 1, JSON.stringify(schema), JSON.stringify(members))

/** Records the names of checks in the order in which they end. */
function ends() {
  const names: string[] = []
  return {
    names,
    record: (name: string, done: Promise<void>) => done.catch(() => undefined).then(() => names.push(name)),
  }
}

it('no thread runs until a form is checked, nor after a while without one (OP-135)', async () => {
  const forms = validator({ idleMs: 1 })
  expect(forms.threadCount).toBe(0)
  for (const _ of [1, 2]) {
    await check(forms, 'a', EASY)
    await expect(check(forms, 'a', { ...EASY, members: {} })).rejects.toMatchObject({
      code: 'bad_request',
      path: ['note'],
    })
    await eventually('the thread ends', () => forms.threadCount === 0)
  }
})

it('an order that no thread checks in time is rate_limited, and waits no longer (OP-135)', async () => {
  const forms = validator({ maxThreads: 0, waitMs: 1 })
  const large = { ...EASY, members: { note: 'a'.repeat(5 * 1024 * 1024) } }
  // Two of them may not wait at once.
  for (const _ of [1, 2]) {
    const answer = check(forms, 'a', large)
    expect(await Promise.race([answer, 'waits'])).toBe('waits')
    await expect(answer).rejects.toMatchObject({ code: 'rate_limited', errorReason: 'too_many_at_once' })
  }
})

it('an order waits only until its check begins (OP-135)', async () => {
  const forms = validator({ maxThreads: 1, waitMs: 1, budgetMs })
  await eventually('the thread is ready', () =>
    check(forms, 'a', EASY).then(
      () => true,
      () => false,
    ),
  )
  await expect(check(forms, 'b', SLOW)).rejects.toMatchObject({ code: 'unprocessable' })
})

it('the form of a workspace and version is compiled once, others have their own (OP-41)', async () => {
  const forms = validator()
  const order = JSON.stringify({})
  await forms.checkOrder('a', 1, '{}', order)
  await forms.checkOrder('a', 1, 'is not read again', order)
  await expect(forms.checkOrder('a', 2, '{"required":["a"]}', order)).rejects.toMatchObject({ path: ['a'] })
  await expect(forms.checkOrder('b', 1, '{"required":["b"]}', order)).rejects.toMatchObject({ path: ['b'] })
})

it.each([
  ['time', SLOW],
  ['memory', LARGE],
])('an order that takes too much %s is unprocessable, and no other order is lost (OP-135)', async (_, costly) => {
  const forms = validator()
  const refused = expect(check(forms, 'a', costly)).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringContaining('too costly for this order; simplify its schema'),
  })
  const others = [check(forms, 'a', EASY), check(forms, 'b', EASY), check(forms, 'b', EASY)]
  await Promise.all([refused, ...others])
})

it('a schema that takes too long to compile is unprocessable (OP-135)', async () => {
  await expect(validator().checkSchema('a', JSON.stringify(SLOW_TO_COMPILE))).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringContaining('schema: is too costly to compile'),
  })
})

it('workspaces take turns (OP-135)', async () => {
  // Orders of one thread end as they start.
  const forms = validator({ maxThreads: 1 })
  const { names, record } = ends()
  await Promise.all(
    ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3'].map((name) =>
      record(name, check(forms, name.charAt(0), EASY)),
    ),
  )
  expect(names).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3'])
})

it('a workspace with costly orders is ahead of another by one order at most (OP-135)', async () => {
  const forms = validator({ budgetMs })
  const { names, record } = ends()
  const costly = ['costly 1', 'costly 2'].map((name) => record(name, check(forms, 'a', SLOW)))
  await record('easy', check(forms, 'b', EASY))
  expect(names.slice(0, -1)).not.toContain('costly 2')
  await Promise.all(costly)
})

it('workspaces with costly orders leave a thread to the others (OP-135)', async () => {
  // A thread starts within the time of a costly order, also on a busy machine.
  const forms = validator()
  const { names, record } = ends()
  const checkCostly = () => ['a', 'b', 'c'].map((name) => record(name, check(forms, name, SLOW)))
  await Promise.all(checkCostly())
  names.length = 0
  const again = checkCostly()
  await record('easy', check(forms, 'easy', EASY))
  expect(names).not.toContain('b')
  await Promise.all(again)
})

it('beyond 8 MiB of waiting orders a workspace is rate_limited, and no other (OP-135)', async () => {
  const forms = validator()
  const large = { ...EASY, members: { note: 'a'.repeat(1024 * 1024) } }
  const answers = Promise.allSettled(Array.from({ length: 12 }, () => check(forms, 'a', large)))
  const other = check(forms, 'b', large)
  expect((await answers).map((answer) => (answer.status === 'rejected' ? answer.reason.code : 'taken'))).toEqual([
    ...Array.from({ length: 7 }, () => 'taken'),
    ...Array.from({ length: 5 }, () => 'rate_limited'),
  ])
  await other
})

it('orders that wait when the service stops are service_unavailable (OP-135)', async () => {
  const forms = validator()
  const refused = expect(check(forms, 'a', EASY)).rejects.toMatchObject({ code: 'service_unavailable' })
  await forms.stop()
  await refused
})
