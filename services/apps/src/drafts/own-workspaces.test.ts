import type { ServerResponse } from 'node:http'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import { aCaller, testSigner } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { ownWorkspaces } from './own-workspaces.ts'

const aSandbox = () => ({ ...aCaller(), traceparent: presentTraceparent() })

test('a sandbox that asks for itself again and again leaves calls of the gateway to another one', async () => {
  const gateway = await startReceiver()
  const open: ServerResponse[] = []
  gateway.answerWith((response) => void open.push(response))
  const { workspaceOf, stop } = ownWorkspaces(gateway.url, testSigner())
  whenDone(() => stop())
  const busy = aSandbox()
  const asked = Array.from({ length: 40 }, () => workspaceOf(busy).catch(() => undefined))
  await eventually('its share is under way', () => open.length === 4)
  const workspace = { name: 'Shop', domain: null, live_workspace: crypto.randomUUID() }
  const other = workspaceOf(aSandbox())
  await eventually('the other one asks', () => open.length === 5)
  open[4]?.end(JSON.stringify(workspace))
  expect(await other).toEqual(workspace)
  for (const response of open) response.destroy()
  gateway.answerWith((response) => void response.destroy())
  await Promise.all(asked)
})
