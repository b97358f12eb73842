/** A package that production installs. */
interface Dependency {
  readonly name: string
  readonly licence: string
}

interface LockedPackage {
  readonly license?: unknown
  readonly link?: boolean
  readonly dev?: boolean
}

/** Licences that ask for nothing but a notice. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-2-Clause-Views',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
])

/** Packages with another licence. */
const EXCEPTIONS: readonly { readonly names: RegExp; readonly licence: RegExp }[] = [
  // The LGPL allows it, since libvips is a separate library that users can replace.
  { names: /^@img\/sharp-/, licence: /LGPL-3.0-or-later/ },
  // The MPL asks for the source of changed files only, and we change none.
  { names: /^lightningcss(-|$)/, licence: /^MPL-2.0$/ },
  // They name MIT in a form that npm does not read.
  { names: /^(ssh2|buildcheck|cpu-features)$/, licence: /^none$/ },
]

/** The packages of a package-lock.json that production installs. */
export const dependenciesOf = ({ packages }: { packages: Readonly<Record<string, LockedPackage>> }): Dependency[] =>
  Object.entries(packages)
    .filter(([path, { link, dev }]) => path.includes('node_modules/') && !link && !dev)
    .map(([path, { license }]) => ({
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      licence: typesOf(license).join(' OR ') || 'none',
    }))

/** Older packages have a list of licences to choose from. */
const typesOf = (license: unknown): string[] =>
  [license]
    .flat()
    .flatMap((one) => (typeof one === 'string' ? one : ((one as { type?: string } | undefined)?.type ?? [])))

/** The packages whose licence is neither allowed nor an exception. One of `MIT OR GPL-2.0` is enough, all of `AND`. */
export const refusedLicences = (dependencies: readonly Dependency[]): Dependency[] =>
  dependencies.filter(
    ({ name, licence }) =>
      !isAllowed(licence) &&
      !EXCEPTIONS.some((exception) => exception.names.test(name) && exception.licence.test(licence)),
  )

const isAllowed = (licence: string): boolean =>
  licence
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((one) => ALLOWED.has(one)))
