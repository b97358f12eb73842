import { createLogger } from '@backoffice/runtime/logger.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { openDatabase } from './database.ts'
import { databaseClock, databaseTime } from './database-clock.ts'

const { workerUrl } = await testDatabase('catalog')
const { sql, stop } = openDatabase({ url: workerUrl, applicationName: 'clock', poolSize: 1 })
whenDone(() => stop?.())

/** A clock whose answers take so long on the way back, in milliseconds, and later ones as long as the last. */
async function startedClock(...answersTake: readonly number[]) {
  let [answers, passed] = [0, 0]
  const slow = new Proxy(sql, {
    apply: (target, self, statement) =>
      Reflect.apply(target, self, statement).then((rows: unknown) => {
        passed += answersTake.at(Math.min(answers++, answersTake.length - 1)) ?? 0
        return rows
      }),
  })
  let suspended = 0
  const clock = databaseClock(
    slow,
    createLogger('test', 'silent'),
    () => performance.now() + passed,
    () => Date.now() + passed + suspended,
  )
  await clock.start()
  whenDone(() => clock.stop?.())
  /** Wrong by half of the answer's way otherwise. */
  const isRight = async () => Math.abs(clock.now().getTime() - (await databaseTime(sql)).getTime()) < 10_000
  /** The process's own clock goes ahead of the database's. */
  const goAhead = (ms: number) => {
    passed += ms
  }
  /** As `goAhead`; the host's clock tells it, as it does after the host was suspended. */
  const moveApart = (ms: number) => {
    passed += ms
    suspended -= ms
  }
  return { clock, isRight, goAhead, moveApart }
}

test('an answer that took long at the start is not what the clock is set by', async () => {
  const { isRight } = await startedClock(60_000, 0)
  expect(await isRight()).toBe(true)
})

test('where all answers took long at the start, one that took less long is', async () => {
  const { isRight } = await startedClock(60_000, 60_000, 60_000, 200)
  await eventually('it is set again', isRight)
})

test('where all answers take long, and longer than the one that has set the clock, it is still followed', async () => {
  const { clock, isRight, goAhead } = await startedClock(200, 200, 200, 350)
  goAhead(60_000)
  await eventually('it is set again', () => {
    clock.wake()
    return isRight()
  })
})

test('a host that was suspended asks again at once, and takes a slow answer', async () => {
  const { isRight, moveApart } = await startedClock(0, 400)
  moveApart(60_000)
  expect(await isRight()).toBe(false)
  await eventually('it is set again', isRight, 5000)
})
