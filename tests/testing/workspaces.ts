import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { apiWith } from './api.ts'

/** The demo workspace's API, live or sandbox. */
export function demoApi(description: StackDescription, livemode = true) {
  const workspace = description.workspaces.find((one) => one.livemode === livemode)
  return apiWith(description.gateway, workspace?.key)
}

/** Creates a workspace with a key of these scopes and a rate limit that no test reaches. */
export async function newWorkspace(description: StackDescription, scopes = ['*']) {
  const admin = apiWith(description.gateway, description.admin_token)
  const { body: workspace } = await admin<{ id: string }>('POST', '/admin/v1/workspaces', { name: 'Test' })
  const settings = { rate_limit: { per_second: 100_000, burst: 100_000 } }
  await admin('PUT', `/admin/v1/workspaces/${workspace.id}/settings`, settings)
  const issue = { name: 'test', scopes }
  const { body: key } = await admin<{ key: string }>('POST', `/admin/v1/workspaces/${workspace.id}/keys`, issue)
  return { id: workspace.id, key: key.key, api: apiWith(description.gateway, key.key) }
}
