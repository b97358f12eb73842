import { apiCommand, commandGroup } from '../command/api-command.ts'
import { idArgument, wholeNumber } from '../command/arguments.ts'

const OPERATOR = { id: idArgument("The token's id") }
const SHOWN_ONCE = 'The token is shown only here.'

export const operators = commandGroup('Operators and their tokens', {
  list: apiCommand({
    description: 'List operator tokens',
    request: 'GET /operators',
    columns: ['id', 'name', 'created_at', 'last_used_at', 'revoked_at'],
  }),
  create: apiCommand({
    description: 'Create an operator with a token',
    request: 'POST /operators',
    args: { name: { type: 'positional', required: true, description: 'The name, as the audit log will show it' } },
    body: ({ name }) => ({ name }),
    note: SHOWN_ONCE,
  }),
  rotate: apiCommand({
    description: "Replace an operator's token by a new one",
    request: 'POST /operators/{id}/rotate',
    args: {
      ...OPERATOR,
      'overlap-seconds': { type: 'string', description: 'How long the old token still works, 0 unless given' },
    },
    body: (args) => ({ overlap_seconds: wholeNumber('overlap-seconds', args['overlap-seconds']) }),
    note: SHOWN_ONCE,
  }),
  delete: apiCommand({
    description: 'Delete an operator: the token, and those that it replaced, are refused',
    request: 'DELETE /operators/{id}',
    args: OPERATOR,
    note: 'The token is refused everywhere within 5 s.',
  }),
})
