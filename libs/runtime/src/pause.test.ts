import { expect, it } from 'vitest'
import { pauseUnless } from './pause.ts'

it('waits for the time given', async () => {
  let isEarlierTimerOver = false
  setTimeout(() => {
    isEarlierTimerOver = true
  }, 10)
  await pauseUnless(new AbortController().signal, 30)
  expect(isEarlierTimerOver).toBe(true)
})

it('ends at once, without an error, when the signal is or was aborted', async () => {
  const stopping = new AbortController()
  const waiting = pauseUnless(stopping.signal, 60_000)
  stopping.abort()
  await waiting
  await pauseUnless(stopping.signal, 60_000)
})
