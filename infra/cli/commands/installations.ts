import { apiCommand, commandGroup } from '../command/api-command.ts'
import { idArgument } from '../command/arguments.ts'

const INSTALLATION = { id: idArgument("The installation's id") }
const WORKSPACE = { workspace: idArgument("The workspace's id") }

export const installations = commandGroup('Installations of apps in workspaces', {
  list: apiCommand({
    description: 'List the installations of a workspace',
    request: 'GET /workspaces/{workspace}/installations',
    args: WORKSPACE,
    columns: ['id', 'provider', 'state', 'scopes', 'created_at', 'activated_at', 'last_error'],
  }),
  find: apiCommand({
    description: 'List the installations of all workspaces',
    request: 'GET /installations',
    args: {
      app: { type: 'string', description: "The app's id", valueHint: 'ID' },
      state: { type: 'enum', options: ['PENDING', 'ACTIVE', 'FAILED', 'UNINSTALLED'], description: 'Their state' },
      error: { type: 'enum', options: ['true', 'false'], description: 'Whether the last call to the app has failed' },
    },
    filter: ({ app, state, error }) => ({ app, state, error }),
    columns: ['id', 'workspace', 'provider', 'state', 'created_at', 'activated_at', 'last_error'],
  }),
  show: apiCommand({ description: 'Show an installation', request: 'GET /installations/{id}', args: INSTALLATION }),
  install: apiCommand({
    description: 'Install an app in a workspace; it then waits for consent',
    request: 'POST /workspaces/{workspace}/installations',
    args: { ...WORKSPACE, provider: { type: 'positional', required: true, description: "The app's provider" } },
    body: ({ provider }) => ({ provider }),
  }),
  consent: apiCommand({
    description: 'Consent to the scopes that an app asks for',
    request: 'POST /installations/{id}/consent',
    args: INSTALLATION,
    body: () => ({}),
  }),
  decline: apiCommand({
    description: 'Decline the scopes that an app asks for',
    request: 'POST /installations/{id}/decline',
    args: INSTALLATION,
  }),
  provision: apiCommand({
    description: 'Deliver a new key and a new webhook endpoint to an installed app',
    request: 'POST /installations/{id}/provision',
    args: INSTALLATION,
    body: () => ({}),
    note: 'What the app had works until it has acknowledged the new key.',
  }),
  session: apiCommand({
    description: "Create a session token for an app's embed",
    request: 'POST /installations/{id}/session',
    args: INSTALLATION,
    body: () => ({}),
  }),
  link: apiCommand({
    description: "Create a one-time link to a page for the merchant's browser",
    request: 'POST /installations/{id}/links',
    args: {
      ...INSTALLATION,
      page: { type: 'enum', options: ['consent', 'embed'], required: true, description: 'Which page' },
    },
    body: ({ page }) => ({ page }),
  }),
  uninstall: apiCommand({
    description: 'Uninstall an app: its key and its webhook endpoint end',
    request: 'DELETE /installations/{id}',
    args: INSTALLATION,
    note: 'The uninstallation has begun.',
  }),
})
