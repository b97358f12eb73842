import { commandGroup, sandboxCommand } from '../command/api-command.ts'
import { idArgument } from '../command/arguments.ts'

/** The sandbox of BACKOFFICE_KEY (OP-287). */
export const sandbox = commandGroup('Your sandbox; BACKOFFICE_KEY has a key of it', {
  show: sandboxCommand({ description: 'Show the key and its sandbox', request: 'GET /me' }),
  reset: sandboxCommand({
    description: 'Delete all data, webhook endpoints and apps of the sandbox; keys and settings stay',
    request: 'POST /sandbox/reset',
    args: { workspace: idArgument("The sandbox's id, as `sandbox show` has it") },
    body: ({ workspace }) => ({ workspace }),
    note: 'The keys have an empty sandbox from now on, everywhere within 5 s. `sandbox status` says when the former data is gone.',
  }),
  status: sandboxCommand({
    description: 'Tell whether the last reset is complete',
    request: 'GET /sandbox/reset',
  }),
})
