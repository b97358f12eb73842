import { expect, test } from 'vitest'
import type { Component } from './component.ts'
import { stopComponents } from './stop-components.ts'

/** Components that note when they are stopped, and errors that were logged. */
function aProcess() {
  const said: string[] = []
  const component = (name: string, stopped: Promise<unknown> = Promise.resolve()): Component => ({
    name,
    async stop() {
      said.push(name)
      await stopped
      said.push(`${name} stopped`)
    },
  })
  const logger = {
    error: (details: { component: string }, message: string) => said.push(`${details.component} ${message}`),
  }
  return { said, component, logger: logger as never }
}

const inMs = (ms: number) => performance.now() + ms

test('those that take in work are stopped at the same time, before what they use', async () => {
  const { said, component, logger } = aProcess()
  const answered = Promise.withResolvers<void>()
  const components = {
    used: [component('pool')],
    accepting: [component('consumer'), component('http', answered.promise)],
  }
  const stopped = stopComponents(components, { work: inMs(60_000), all: inMs(60_000) }, logger)
  await expect.poll(() => said).toEqual(['consumer', 'http', 'consumer stopped'])
  answered.resolve()
  expect(await stopped).toBe(true)
  expect(said.slice(3)).toEqual(['http stopped', 'pool', 'pool stopped'])
})

test('nobody is waited for beyond the deadline, neither for work nor for what it uses', async () => {
  const { said, component, logger } = aProcess()
  const never = new Promise(() => undefined)
  const used = [component('pool'), component('kafka', never)]
  const components = { used, accepting: [component('http', never), component('consumer')] }
  expect(await stopComponents(components, { work: inMs(20), all: inMs(40) }, logger)).toBe(false)
  expect(said.filter((what) => !what.endsWith(' stopped'))).toEqual([
    'http',
    'consumer',
    'http did not stop in time',
    'kafka',
    'kafka did not stop in time',
    'pool',
  ])
})

test('each is told until when', async () => {
  const told: unknown[] = []
  const component = (name: string): Component => ({ name, stop: async (until) => void told.push(until) })
  const components = { used: [component('pool')], accepting: [component('http')] }
  await stopComponents(components, { work: 1, all: 2 }, aProcess().logger)
  expect(told).toEqual([1, 2])
})
