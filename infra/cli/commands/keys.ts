import { apiCommand, commandGroup } from '../command/api-command.ts'
import { idArgument, list, wholeNumber } from '../command/arguments.ts'

const KEY = { id: idArgument("The key's id") }
const WORKSPACE = { workspace: idArgument("The workspace's id") }
const SHOWN_ONCE = 'The key is shown only here.'

export const keys = commandGroup('API keys of workspaces', {
  list: apiCommand({
    description: 'List the keys of a workspace',
    request: 'GET /workspaces/{workspace}/keys',
    args: WORKSPACE,
    columns: ['id', 'name', 'kind', 'scopes', 'created_at', 'expires_at', 'last_used_at', 'revoked_at'],
  }),
  create: apiCommand({
    description: 'Create a key',
    request: 'POST /workspaces/{workspace}/keys',
    args: {
      ...WORKSPACE,
      name: { type: 'string', required: true, description: 'Its name' },
      scopes: { type: 'string', required: true, description: 'Scopes, such as product,sale::read, or *' },
      'expires-at': { type: 'string', description: 'When it ends, such as 2027-01-31T00:00:00Z' },
    },
    body: ({ name, scopes, 'expires-at': expiresAt }) => ({ name, scopes: list(scopes), expires_at: expiresAt }),
    note: SHOWN_ONCE,
  }),
  rotate: apiCommand({
    description: 'Replace a key by a new one of the same name and scopes; an app gets its own by a provision',
    request: 'POST /keys/{id}/rotate',
    args: {
      ...KEY,
      'overlap-seconds': { type: 'string', description: 'How long the old key still works, 0 unless given' },
    },
    body: (args) => ({ overlap_seconds: wholeNumber('overlap-seconds', args['overlap-seconds']) }),
    note: ({ key }) => (key === undefined ? 'The app gets the new key, and has to acknowledge it.' : SHOWN_ONCE),
  }),
  revoke: apiCommand({
    description: 'Revoke a key',
    request: 'DELETE /keys/{id}',
    args: KEY,
    note: 'The key is refused everywhere within 5 s.',
  }),
  identify: apiCommand({
    description:
      'Tell whose key or token a leaked text is, and what ends it; read from standard input, which no list of processes shows',
    request: 'POST /keys/identify',
    body: async (_args, { readInput }) => ({ key: (await readInput()).trim() }),
  }),
})
