import { listView } from '@backoffice/contracts/pagination.ts'
import { expect, test } from 'vitest'
import { testGateway } from '../testing/test-gateway.ts'

const gateway = await testGateway()
const { workspaceId } = await gateway.aKey()
const { apps } = gateway.services
apps.answer = (_request, response) => void response.end(JSON.stringify(listView({}, 0, [])))

test.each([
  ['/apps', '/internal/apps'],
  ['/apps?page=2&limit=5', '/internal/apps?page=2&limit=5'],
  [`/workspaces/${workspaceId}/installations`, '/internal/installations'],
  [`/workspaces/${workspaceId}/installations?limit=5`, '/internal/installations?limit=5'],
])('GET %s asks apps for %s', async (path, asked) => {
  expect((await gateway.admin('GET', path)).status).toBe(200)
  expect(apps.received.at(-1)?.url).toBe(asked)
})
