import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { FairSlots, type SlotLimits } from './fair-slots.ts'

const LIMITS: SlotLimits = { slots: 5, share: 2, waiting: 3, waitMs: 60_000 }

/** Requests whose work ends when the test says so. A request is named by its owner and a number: `a1`. */
function requests(limits: Partial<SlotLimits> = {}) {
  const slots = new FairSlots({ ...LIMITS, ...limits }, (why) => new Error(`refused: ${why}`))
  const ends = new Map<string, () => void>()
  const running: string[] = []
  return {
    slots,
    async take(name: string, count = 1, signal?: AbortSignal) {
      const giveBack = await slots.take(name.charAt(0), { count, ...(signal && { signal }) })
      running.push(name)
      ends.set(name, giveBack)
    },
    async start(...names: string[]) {
      for (const name of names) this.take(name).catch(() => undefined)
      await turn()
    },
    async end(...names: string[]) {
      for (const name of names) {
        ends.get(name)?.()
        running.splice(running.indexOf(name), 1)
      }
      await turn()
    },
    running,
  }
}

it('one owner alone may use all but a share, which another owner finds free', async () => {
  const { start, running } = requestsOf(requests())
  await start('a1', 'a2', 'a3', 'a4')
  expect(running).toEqual(['a1', 'a2', 'a3'])
  await start('b1', 'b2', 'b3')
  expect(running).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
})

it('an owner beyond its share gives way to those within theirs', async () => {
  const { start, end, running } = requestsOf(requests())
  await start('a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1')
  await end('a1')
  expect(running).toEqual(['a2', 'a3', 'b1', 'b2', 'c1'])
  await end('b1')
  expect(running).toEqual(['a2', 'a3', 'b2', 'c1'])
  await end('b2', 'c1')
  expect(running).toEqual(['a2', 'a3', 'a4'])
})

it('who waits is served owner by owner in turn, and within an owner in the order of its requests', async () => {
  const { start, end, running } = requestsOf(requests({ slots: 2, share: 1 }))
  await start('x1', 'y1', 'a1', 'a2', 'a3', 'b1', 'b2', 'c1')
  const served: string[] = []
  for (let last: string | undefined = 'x1'; last !== undefined; last = served.at(-1)) {
    const before = [...running]
    await end(last)
    const started = running.filter((name) => !before.includes(name))
    if (started.length === 0) break
    served.push(...started)
  }
  expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

it('of an owner, the key that holds fewest is next, and one alone has all but a share of the keys', async () => {
  const { slots } = requests({ slots: 8, share: 2, keyShare: 2, waiting: 2 })
  const running: string[] = []
  const ends = new Map<string, () => void>()
  const take = async (name: string) => {
    ends.set(name, await slots.take(name.charAt(0), { key: name.charAt(1) }))
    running.push(name)
  }
  for (const name of ['ax1', 'ax2', 'ax3', 'ax4', 'ax5', 'ax6', 'ay1', 'az1', 'ay2', 'ay3']) void take(name)
  await turn()
  expect(running).toEqual(['ax1', 'ax2', 'ax3', 'ax4', 'ay1', 'az1'])
  // Of each key two wait, and of the owner twice as many.
  await expect(take('ax7')).rejects.toThrow('refused: owner')
  await expect(take('az2')).rejects.toThrow('refused: owner')
  for (const name of ['ax1', 'ax2', 'ax3', 'ax4']) {
    ends.get(name)?.()
    await turn()
  }
  expect(running.slice(6)).toEqual(['ay2', 'ax5', 'ay3', 'ax6'])
})

it('an owner never holds more than the most, however many are free', async () => {
  const { start, running } = requestsOf(requests({ slots: 10, most: 2 }))
  await start('a1', 'a2', 'a3', 'b1')
  expect(running).toEqual(['a1', 'a2', 'b1'])
})

it('a request is refused at once when as many of its owner wait as may wait, and those of others are not', async () => {
  const all = requests()
  const { start, running } = requestsOf(all)
  await start('a1', 'a2', 'a3', 'a4', 'a5', 'a6')
  await expect(all.take('a7')).rejects.toThrow('refused: owner')
  await start('b1')
  expect(running).toEqual(['a1', 'a2', 'a3', 'b1'])
})

it('a request that waits too long is refused, and says whether its owner or all together ask for too much', async () => {
  const all = requests({ waitMs: 10, slots: 4 })
  const { start, end, running } = requestsOf(all)
  await start('a1', 'a2', 'b1', 'b2')
  await expect(all.take('a3')).rejects.toThrow('refused: owner')
  await expect(all.take('c1')).rejects.toThrow('refused: all')
  await end('a1')
  expect(running).toEqual(['a2', 'b1', 'b2'])
  expect(all.slots.held()).toBe(3)
})

it('a request may bring its own longest wait', async () => {
  const all = requests({ slots: 2, share: 1 })
  await all.start('a1', 'b1')
  await expect(all.slots.take('c', { waitMs: 10 })).rejects.toThrow('refused: all')
})

it('a request that is no longer wanted stops waiting', async () => {
  const all = requests({ slots: 2, share: 1 })
  const { start, end, running } = requestsOf(all)
  await start('a1', 'b1')
  const leaving = new AbortController()
  const left = all.take('c1', 1, leaving.signal)
  await start('d1')
  leaving.abort(new Error('the client left'))
  await expect(left).rejects.toThrow('the client left')
  await expect(all.take('e1', 1, leaving.signal)).rejects.toThrow('the client left')
  await end('a1')
  expect(running).toEqual(['b1', 'd1'])
})

it('requests may take several slots, up to a share, and smaller ones do not pass a larger one for ever', async () => {
  const all = requests({ slots: 6, share: 3 })
  const { start, end, running } = requestsOf(all)
  await start('a1', 'a2', 'a3', 'b1', 'b2')
  void all.take('c1', 100)
  await start('d1')
  expect(running).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
  await end('a1')
  expect(running).toEqual(['a2', 'a3', 'b1', 'b2'])
  await end('b1')
  expect(running).toEqual(['a2', 'a3', 'b2', 'c1'])
  expect(all.slots.held('c')).toBe(3)
})

it('an owner with fewer slots takes over the oldest of the owner with most, down to as many as it has itself', async () => {
  const all = requests({ slots: 6, share: 3, most: 4, takeOverMs: 1 })
  const ended: string[] = []
  const holdFor = async (...names: string[]) => {
    for (const name of names) {
      const onTakenOver = ({ message }: Error) => void ended.push(`${name} ${message}`)
      await all.slots.take(name.charAt(0), { onTakenOver })
    }
  }
  await holdFor('a1', 'a2', 'a3')
  await all.take('b1')
  await holdFor('b2', 'b3')
  await holdFor('c1')
  expect(ended).toEqual(['a1 refused: owner'])
  await holdFor('c2')
  expect(ended).toEqual(['a1 refused: owner', 'b2 refused: owner'])
  expect(['a', 'b', 'c'].map((owner) => all.slots.held(owner))).toEqual([2, 2, 2])
  // Each has as many now, and what began without `onTakenOver` is never ended.
  await expect(all.slots.take('d', { count: 2, waitMs: 20 })).rejects.toThrow('refused: all')
  await expect(all.slots.take('a', { waitMs: 20 })).rejects.toThrow('refused: all')
  expect(ended).toHaveLength(2)
})

it('nothing is ended where the slots that may be taken over do not suffice', async () => {
  const all = requests({ slots: 6, share: 3, most: 4, takeOverMs: 1 })
  const ended: string[] = []
  const hold = (owner: string, count: number) =>
    all.slots.take(owner, { count, onTakenOver: () => void ended.push(owner) })
  // Of `a` only the first one may be taken over.
  await hold('a', 1)
  await all.slots.take('a', { count: 2 })
  await all.slots.take('b', { count: 3 })
  await expect(all.slots.take('c', { count: 2, waitMs: 20 })).rejects.toThrow('refused: all')
  expect(ended).toEqual([])
  await all.slots.take('c')
  expect(ended).toEqual(['a'])
})

it('the only request of an owner is kept, unless it is for any owner, but never for its own', async () => {
  const { slots } = requests({ slots: 4, share: 4, most: 4, takeOverMs: 1 })
  const ended: string[] = []
  const hold = (owner: string, isForAny: boolean) =>
    slots.take(owner, { count: 2, isForAny, onTakenOver: () => void ended.push(owner) })
  await hold('a', false)
  await hold('b', true)
  await expect(slots.take('b', { waitMs: 20 })).rejects.toThrow('refused: all')
  await expect(slots.take('c', { count: 3, waitMs: 20 })).rejects.toThrow('refused: all')
  expect(ended).toEqual([])
  await slots.take('a', { count: 2 })
  expect(ended).toEqual(['b'])
})

it('what was taken over is given back once only', async () => {
  const { slots } = requests({ slots: 2, share: 2, takeOverMs: 1 })
  const onTakenOver = () => undefined
  const giveBack = await slots.take('a', { onTakenOver })
  await slots.take('a', { onTakenOver })
  await slots.take('b')
  giveBack()
  expect([slots.held('a'), slots.held('b'), slots.held()]).toEqual([1, 1, 2])
})

it('work that fails gives its slot back, and giving back twice frees one slot', async () => {
  const { slots } = requests({ slots: 2, share: 1 })
  await expect(slots.run('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  const giveBack = await slots.take('a')
  await slots.take('b')
  giveBack()
  giveBack()
  expect(slots.held()).toBe(1)
  expect(await slots.run('a', async () => 'answer')).toBe('answer')
})

const requestsOf = (all: ReturnType<typeof requests>) => ({
  running: all.running,
  start: all.start.bind(all),
  end: all.end.bind(all),
})
