import { apiCommand, commandGroup } from '../command/api-command.ts'
import { idArgument } from '../command/arguments.ts'

const WORKSPACE = { workspace: idArgument("The workspace's id") }

export const consoleSessions = commandGroup('Sessions of the console', {
  end: apiCommand({
    description: 'End a session, or withdraw the link that begins it',
    request: 'DELETE /console-sessions/{id}',
    args: { id: idArgument("The session's id, as `keys identify` or the audit log has it") },
    note: 'It is refused everywhere within 5 s.',
  }),
})

export const support = commandGroup('Sessions of support in a workspace, which the audit log has', {
  open: apiCommand({
    description: 'Open a session of half an hour that reads; it writes with a reason in the header Support-Reason',
    request: 'POST /workspaces/{workspace}/support-sessions',
    args: { ...WORKSPACE, reason: { type: 'string', description: 'Why, for the audit log' } },
    body: ({ reason }) => ({ reason }),
    note: 'The token is shown only here. BACKOFFICE_KEY takes it, and the API as an API key.',
  }),
  list: apiCommand({
    description: 'List the sessions of a workspace, the ended ones too',
    request: 'GET /workspaces/{workspace}/support-sessions',
    args: WORKSPACE,
    columns: ['id', 'operator', 'reason', 'created_at', 'expires_at', 'ended_at'],
  }),
  end: apiCommand({
    description: 'End a session',
    request: 'DELETE /support-sessions/{id}',
    args: { id: idArgument("The session's id") },
    note: 'The token is refused everywhere within 5 s.',
  }),
})
