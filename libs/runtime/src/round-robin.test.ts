import { expect, it } from 'vitest'
import { RoundRobin } from './round-robin.ts'

it('serves owners in turn, and each in its own order', () => {
  const waiting = new RoundRobin<string>()
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) waiting.add(item.charAt(0), item)
  const served: string[] = []
  while (!waiting.isEmpty) {
    const [[owner, item] = ['', '']] = waiting
    waiting.serve(owner, item)
    served.push(item)
  }
  expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
})

it('what leaves costs its owner no turn', () => {
  const waiting = new RoundRobin<string>()
  for (const item of ['a1', 'a2', 'b1']) waiting.add(item.charAt(0), item)
  waiting.remove('a', 'a1')
  expect([...waiting]).toEqual([
    ['a', 'a2'],
    ['b', 'b1'],
  ])
  waiting.remove('a', 'a2')
  expect([...waiting]).toEqual([['b', 'b1']])
  expect(waiting.of('a').size).toBe(0)
})
