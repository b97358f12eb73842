import { spawnSync } from 'node:child_process'
import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { clientIdOf, isOfEndedProcess } from './former-members.ts'

const { pid: endedPid } = spawnSync(process.execPath, ['--version'])
const host = hostname()

test.each([
  ['this process', clientIdOf('catalog'), false],
  ['another process of this host', `catalog@${host}/${process.ppid}/1`, false],
  ['an ended process of this host', `catalog@${host}/${endedPid}/1`, true],
  ['the process before in this container', `catalog@${host}/${process.pid}/1`, true],
  ['a process of another host', `catalog@other-${host}/${endedPid}/1`, false],
  ['a client of another kind', 'catalog', false],
])('a client of %s', (_what, clientId, isEnded) => {
  expect(isOfEndedProcess(clientId)).toBe(isEnded)
})
