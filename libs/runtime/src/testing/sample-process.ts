import { z } from 'zod'
import type { Component } from '../component.ts'
import { List, ProcessConfig, readConfig } from '../config.ts'
import { counter } from '../metrics.ts'
import { runProcess } from '../process.ts'

/*
 * A process of the tests' own with three components, steered over IPC. It says what its components do; MISBEHAVE lists
 * what goes otherwise, each as `<what> <component>`.
 */
const config = readConfig(z.object({ ...ProcessConfig.shape, MISBEHAVE: List.default([]) }))
const things = counter('sample_things', 'Counted before the process runs')
things.add(3)

const is = (what: string) => config.MISBEHAVE.includes(what)
const say = (said: string) => process.send?.(said)
const told = (message: string) =>
  new Promise<void>((resolve) => {
    process.on('message', (heard) => heard === message && resolve())
  })

const component = (name: string): Component => ({
  name,
  async start() {
    say(`start ${name}`)
    if (is(`wait ${name}`)) await told('start')
    if (is(`fail ${name}`)) throw new Error(`${name} has no luck`)
  },
  async isReady() {
    if (is(`break ${name}`)) throw new Error(`${name} is broken`)
    return !is(`idle ${name}`)
  },
  remark: () => (is(`remark ${name}`) ? `${name} is tired` : undefined),
  drain() {
    if (is(`drain ${name}`)) say(`drain ${name}`)
  },
  async stop() {
    say(`stop ${name}`)
    if (is(`hold ${name}`)) await told('stop')
    if (is(`jam ${name}`)) throw new Error(`${name} is jammed`)
  },
})

// The tests are gone.
process.on('disconnect', () => process.exit(1))

await runProcess('sample', config, ({ fatal }) => {
  if (is('build')) throw new Error('cannot be built')
  if (is('fatal')) told('go').then(() => fatal('going on would do harm'))
  if (is('rejection')) told('go').then(() => Promise.reject(new Error('nobody listens')))
  if (is('exception')) {
    told('go').then(() => {
      setImmediate(() => {
        throw new Error('nobody catches')
      })
    })
  }
  return { used: [component('first'), { name: 'plain' }, component('last')], accepting: [] }
})
