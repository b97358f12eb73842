import { apiCommand, commandGroup, listCommand } from '../command/api-command.ts'
import { id, idArgument } from '../command/arguments.ts'

const INSTALLATION = { id: idArgument("The installation's id") }
const WORKSPACE = { workspace: idArgument("The workspace's id") }

/** A command that sends `body` to a sub-resource of an installation. */
const post = (description: string, action: string, body?: object) =>
  apiCommand({
    description,
    args: INSTALLATION,
    request: (args) => ({
      method: 'POST',
      path: `/installations/${id(args.id)}/${action}`,
      ...(body !== undefined && { body }),
    }),
  })

export const installations = commandGroup('Installations of apps in workspaces', {
  list: listCommand({
    description: 'List the installations of a workspace',
    args: WORKSPACE,
    path: ({ workspace }) => `/workspaces/${id(workspace)}/installations`,
    columns: ['id', 'provider', 'state', 'scopes', 'created_at', 'activated_at', 'last_error'],
  }),
  show: apiCommand({
    description: 'Show an installation',
    args: INSTALLATION,
    request: (args) => ({ method: 'GET', path: `/installations/${id(args.id)}` }),
  }),
  install: apiCommand({
    description: 'Install an app in a workspace; it then waits for consent',
    args: { ...WORKSPACE, provider: { type: 'positional', required: true, description: "The app's provider" } },
    request: ({ workspace, provider }) => ({
      method: 'POST',
      path: `/workspaces/${id(workspace)}/installations`,
      body: { provider },
    }),
  }),
  consent: post('Consent to the scopes that an app asks for', 'consent', {}),
  decline: post('Decline the scopes that an app asks for', 'decline'),
  session: post("Create a session token for an app's embed", 'session', {}),
  link: apiCommand({
    description: "Create a one-time link to a page for the merchant's browser",
    args: {
      ...INSTALLATION,
      page: { type: 'enum', options: ['consent', 'embed'], required: true, description: 'Which page' },
    },
    request: (args) => ({
      method: 'POST',
      path: `/installations/${id(args.id)}/links`,
      body: { page: args.page },
    }),
  }),
  uninstall: apiCommand({
    description: 'Uninstall an app: its key and its webhook endpoint end',
    args: INSTALLATION,
    request: (args) => ({ method: 'DELETE', path: `/installations/${id(args.id)}` }),
    note: 'The uninstallation has begun.',
  }),
})
