import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { callSlots } from './call-slots.ts'

const LIMITS = { running: 2, runningPerWorkspace: 2, waitingPerWorkspace: 3, waitMs: 60_000 }
const refused = new Error('too many')

/** Calls that end when the test says so. */
function calls(limits: Partial<typeof LIMITS> = {}) {
  const inSlot = callSlots({ ...LIMITS, ...limits }, () => refused)
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    start: (workspace: string, name: string) => {
      const call = inSlot(workspace, () => {
        started.push(name)
        return new Promise<void>((resolve) => ends.set(name, resolve))
      })
      // A test may end while it waits for its slot.
      call.catch(() => undefined)
      return call
    },
    end: (name: string) => ends.get(name)?.(),
    /** Waits until these calls have started, in this order. */
    untilStarted: async (...names: string[]) => {
      await eventually(`${names} have started`, () => started.length >= names.length)
      expect(started).toEqual(names)
    },
  }
}

it('a free slot goes to the workspaces in a round robin, and within one in the order of the calls', async () => {
  const { untilStarted, start, end } = calls()
  for (const name of ['a1', 'a2', 'a3', 'a4']) void start('a', name)
  for (const name of ['b1', 'b2']) void start('b', name)
  await untilStarted('a1', 'a2')
  end('a1')
  await untilStarted('a1', 'a2', 'a3')
  end('a2')
  await untilStarted('a1', 'a2', 'a3', 'b1')
  end('a3')
  end('b1')
  await untilStarted('a1', 'a2', 'a3', 'b1', 'a4', 'b2')
})

it('a workspace whose calls hold all the slots it may have leaves the others to other workspaces', async () => {
  const { untilStarted, start, end } = calls({ running: 3 })
  for (const name of ['a1', 'a2', 'a3']) void start('a', name)
  for (const name of ['b1', 'b2']) void start('b', name)
  await untilStarted('a1', 'a2', 'b1')
  end('b1')
  await untilStarted('a1', 'a2', 'b1', 'b2')
  end('a1')
  await untilStarted('a1', 'a2', 'b1', 'b2', 'a3')
})

it('a call is refused at once when as many of its workspace wait as may wait, and those of others are not', async () => {
  const { start, untilStarted, end } = calls()
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void start('a', name)
  await expect(start('a', 'a6')).rejects.toBe(refused)
  void start('b', 'b1')
  end('a1')
  end('a2')
  await untilStarted('a1', 'a2', 'a3', 'b1')
})

it('a call that waits too long is not made, and the slot is free for the next', async () => {
  const { start, untilStarted, end } = calls({ waitMs: 10 })
  for (const name of ['a1', 'a2']) void start('a', name)
  await expect(start('a', 'a3')).rejects.toBe(refused)
  end('a1')
  void start('a', 'a4')
  await untilStarted('a1', 'a2', 'a4')
})

it('a call that fails frees its slot', async () => {
  const inSlot = callSlots({ ...LIMITS, running: 1 }, () => refused)
  const failing = inSlot('a', () => Promise.reject(new Error('away')))
  const next = inSlot('b', async () => 'answer')
  await expect(failing).rejects.toThrow('away')
  expect(await next).toBe('answer')
})
