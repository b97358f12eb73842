import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { clientIdOf, isOfEndedProcess, OWN } from './former-members.ts'

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
