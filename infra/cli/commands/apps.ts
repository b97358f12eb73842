import { readFileSync } from 'node:fs'
import { apiCommand, commandGroup, sandboxCommand } from '../command/api-command.ts'
import { idArgument, list } from '../command/arguments.ts'
import { CommandError } from '../command/command-error.ts'
import { doctor } from '../doctor/doctor-command.ts'

const APP = { id: idArgument("The app's id") }
const MANIFEST = { type: 'positional', required: true, description: 'The file of the manifest' } as const
const ORIGIN = {
  type: 'string',
  description: "The app's origin, such as https://pay.example.com",
  valueHint: 'URL',
} as const

const DRAFT = { id: idArgument("The draft's id") }

/** Drafts of a sandbox, by BACKOFFICE_KEY (OP-286). */
const draft = commandGroup('Drafts of apps in a sandbox; BACKOFFICE_KEY has a key of the sandbox', {
  list: sandboxCommand({
    description: 'List drafts',
    request: 'GET /sandbox/apps',
    columns: ['id', 'provider', 'name', 'origin', 'version', 'updated_at'],
  }),
  show: sandboxCommand({
    description: 'Show a draft, and how far its installation is',
    request: 'GET /sandbox/apps/{id}',
    args: DRAFT,
  }),
  register: sandboxCommand({
    description: 'Register a draft by its manifest',
    request: 'POST /sandbox/apps',
    args: { manifest: MANIFEST, origin: { ...ORIGIN, required: true } },
    body: ({ manifest, origin }) => ({ origin, manifest: readManifest(manifest) }),
  }),
  update: sandboxCommand({
    description: 'Give a draft another manifest; the origin stays unless given',
    request: 'PUT /sandbox/apps/{id}',
    args: { ...DRAFT, manifest: MANIFEST, origin: ORIGIN },
    body: ({ manifest, origin }) => ({ origin, manifest: readManifest(manifest) }),
  }),
  install: sandboxCommand({
    description: 'Consent to the scopes of a draft, and install it; again, call an app that did not answer',
    request: 'POST /sandbox/apps/{id}/install',
    args: {
      ...DRAFT,
      scopes: { type: 'string', required: true, description: 'The scopes of its manifest, comma-separated' },
    },
    body: ({ scopes }) => ({ scopes: list(scopes) }),
    note: '`apps draft show` says how far it is, and `DELETE /v1/apps/{provider}` uninstalls it.',
  }),
  delete: sandboxCommand({
    description: 'Uninstall a draft, and delete it',
    request: 'DELETE /sandbox/apps/{id}',
    args: DRAFT,
    note: 'It is deleted.',
  }),
})

export const apps = commandGroup('Third-party apps', {
  list: apiCommand({
    description: 'List apps',
    request: 'GET /apps',
    columns: ['id', 'provider', 'name', 'origin', 'version', 'updated_at'],
  }),
  show: apiCommand({ description: 'Show an app', request: 'GET /apps/{id}', args: APP }),
  register: apiCommand({
    description: 'Register an app by its manifest',
    request: 'POST /apps',
    args: { manifest: MANIFEST, origin: { ...ORIGIN, required: true } },
    body: ({ manifest, origin }) => ({ origin, manifest: readManifest(manifest) }),
  }),
  status: apiCommand({
    description: 'Tell whether an app is suspended or being deleted, and whether that is in force everywhere',
    request: 'GET /apps/{id}/status',
    args: APP,
  }),
  suspend: apiCommand({
    description: 'Suspend an app: in all workspaces its keys, sessions, checkouts and webhooks stop',
    request: 'POST /apps/{id}/suspend',
    args: { ...APP, reason: { type: 'string', description: 'Why, for other operators' } },
    body: ({ reason }) => ({ reason }),
    note: 'It is in force everywhere when `apps status` says so.',
  }),
  resume: apiCommand({
    description: 'End the suspension of an app; what has waited for it is sent',
    request: 'POST /apps/{id}/resume',
    args: APP,
    body: () => ({}),
  }),
  delete: apiCommand({
    description: 'Uninstall an app in all workspaces, and delete it',
    request: 'DELETE /apps/{id}',
    args: APP,
    note: 'The deletion has begun. `apps status` answers not_found when it is complete.',
  }),
  doctor,
  draft,
  update: apiCommand({
    description: 'Give an app another manifest; the origin stays unless given',
    request: 'PUT /apps/{id}',
    args: { ...APP, manifest: MANIFEST, origin: ORIGIN },
    body: ({ manifest, origin }) => ({ origin, manifest: readManifest(manifest) }),
  }),
})

function readManifest(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new CommandError(`${file} is no file with JSON: ${(error as Error).message}`)
  }
}
