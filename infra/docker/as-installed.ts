/** What a manifest, and an entry of the lock file, say of dependencies. */
export interface Dependencies {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/**
 * Dependencies that no image loads, by the folder of the package that names them. The registry's client brings the
 * encryption of fields with the keys of five clouds, Avro, Protobuf and rules in two languages; we load its client and
 * its JSON serializer.
 */
const NEVER_LOADED: Readonly<Record<string, readonly string[]>> = {
  // `backoffice` reads the addresses of a local stack from it, and starts none.
  'infra/local': ['@backoffice/docker', '@backoffice/jobs', '@backoffice/testing'],
  'node_modules/@confluentinc/schemaregistry': [
    '@aws-sdk/client-kms',
    '@aws-sdk/credential-providers',
    '@azure/identity',
    '@azure/keyvault-keys',
    '@bufbuild/cel',
    '@bufbuild/protobuf',
    '@google-cloud/kms',
    '@hackbg/miscreant-esm',
    '@smithy/types',
    '@types/simple-oauth2',
    '@types/validator',
    'avsc',
    'jsonata',
    'node-vault',
  ],
}

/** Only `jobs` migrates. */
const LOADED_BY_JOBS: Readonly<Record<string, readonly string[]>> = { 'libs/postgres': ['node-pg-migrate', 'pg'] }

/** A package's manifest, or its entry in the lock file, without what an image never loads. */
export function asInstalled<Entry extends Dependencies>(
  image: string,
  folder: string,
  { devDependencies: _, ...entry }: Entry,
): Omit<Entry, 'devDependencies'> {
  const leftOut = [...(NEVER_LOADED[folder] ?? []), ...((image !== 'jobs' && LOADED_BY_JOBS[folder]) || [])]
  if (entry.dependencies === undefined) return entry
  const kept = Object.entries(entry.dependencies).filter(([name]) => !leftOut.includes(name))
  return { ...entry, dependencies: Object.fromEntries(kept) }
}
