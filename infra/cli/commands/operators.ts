import { apiCommand, commandGroup, listCommand } from '../command/api-command.ts'
import { id, idArgument, wholeNumber } from '../command/arguments.ts'

const OPERATOR = { id: idArgument("The token's id") }
const SHOWN_ONCE = 'The token is shown only here.'

export const operators = commandGroup('Operators and their tokens', {
  list: listCommand({
    description: 'List operator tokens',
    path: () => '/operators',
    columns: ['id', 'name', 'created_at', 'last_used_at', 'revoked_at'],
  }),
  create: apiCommand({
    description: 'Create an operator with a token',
    args: { name: { type: 'positional', required: true, description: 'The name, as the audit log will show it' } },
    request: ({ name }) => ({ method: 'POST', path: '/operators', body: { name } }),
    note: SHOWN_ONCE,
  }),
  rotate: apiCommand({
    description: "Replace an operator's token by a new one",
    args: {
      ...OPERATOR,
      'overlap-seconds': { type: 'string', description: 'How long the old token still works, 0 unless given' },
    },
    request: (args) => ({
      method: 'POST',
      path: `/operators/${id(args.id)}/rotate`,
      body: { overlap_seconds: wholeNumber('overlap-seconds', args['overlap-seconds']) },
    }),
    note: SHOWN_ONCE,
  }),
  delete: apiCommand({
    description: 'Delete an operator: the token, and those that it replaced, are refused',
    args: OPERATOR,
    request: (args) => ({ method: 'DELETE', path: `/operators/${id(args.id)}` }),
    note: 'The token is refused everywhere within 5 s.',
  }),
})
