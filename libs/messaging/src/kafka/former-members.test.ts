import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { guardChild } from '@backoffice/testing/processes/guard.ts'
import { expect, test } from 'vitest'
import { clientIdOf, isOfEndedProcess, OWN } from './former-members.ts'
import { aTopic, testKafka } from './testing/kafka.ts'

const { pid: endedPid } = spawnSync(process.execPath, ['--version'])
/** In a container that has its own host name, as in a pod. */
const inPod = { ...OWN, names: '4026532001', pids: '4026532002', pid: 1 }
/** In one that has the name of its machine, as in a pod with `hostNetwork`. */
const onMachine = { ...inPod, names: '4026531838' }

test.each([
  ['this process', OWN, OWN, false],
  ['another process of this machine', { ...OWN, pid: process.ppid, startedAt: 1 }, OWN, false],
  ['an ended process of this machine', { ...OWN, pid: endedPid, startedAt: 1 }, OWN, true],
  ['the process before with this pid', { ...OWN, startedAt: 1 }, OWN, true],
  ['a process of another machine', { ...OWN, boot: 'another', pid: endedPid, startedAt: 1 }, OWN, false],
  ['another container with the same pids', { ...OWN, pids: '1', pid: endedPid, startedAt: 1 }, OWN, false],
  ['the container before of this pod', { ...inPod, pids: '4026532003', startedAt: 1 }, inPod, true],
  ['another pod', { ...inPod, names: '4026532004', pids: '4026532003', startedAt: 1 }, inPod, false],
  ['another pod with the name of its machine', { ...onMachine, pids: '4026532003', startedAt: 1 }, onMachine, false],
])('a client of %s', (_what, client, own, isEnded) => {
  expect(isOfEndedProcess(clientIdOf('catalog', client), own)).toBe(isEnded)
})

test('a client of another kind, or where Linux says nothing of processes', () => {
  const unknown = { ...OWN, boot: '', names: '', pids: '' }
  expect(isOfEndedProcess('catalog')).toBe(false)
  expect(isOfEndedProcess(clientIdOf('catalog', { ...unknown, startedAt: 1 }), unknown)).toBe(false)
})

test('the partitions of a process that died go to the other members as soon as one removes it from the group', async () => {
  const { kafka, prefix } = await testKafka([aTopic('things')])
  const dying = fork(
    fileURLToPath(new URL('./testing/dying-member.ts', import.meta.url)),
    [backingServices().kafkaBrokers.join(), prefix, 'shared', 'things'],
    { execArgv: [] },
  )
  guardChild(dying, 'SIGKILL')
  const [processNumber] = (await once(dying, 'message')) as [number]
  const member = kafka.consume({ group: 'shared', topics: ['things'], concurrency: 1, onBatch: async () => undefined })
  await eventually('they share', () => [1, 2].includes(member.assigned().size))
  dying.kill('SIGKILL')
  await once(dying, 'exit')
  await kafka.removeMembersOf([processNumber + 1])
  expect(await kafka.countMembers(['shared'])).toEqual(new Map([['shared', 2]]))
  await kafka.removeMembersOf([processNumber])
  await eventually('it has all', () => member.assigned().size === 3)
})
