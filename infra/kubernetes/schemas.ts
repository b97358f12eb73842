import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { celEnv, parse as parseExpression, plan } from '@bufbuild/cel'
import { Ajv, type FuncKeywordDefinition, type SchemaObject } from 'ajv'
import ajvFormats from 'ajv-formats'
import { parse } from 'yaml'
import { goModule } from './tools.ts'

/** The oldest version of Kubernetes that the manifests are for. */
const KUBERNETES = '1.30'

/** A Go module that has what servers of each version publish about their kinds. */
const PUBLISHED = 'sigs.k8s.io/kubectl-validate@v0.0.4'

/** Where the definitions of the kinds that Kubernetes itself lacks are: a Go module, and files in it. */
const DEFINITIONS: Readonly<Record<string, readonly string[]>> = {
  'sigs.k8s.io/gateway-api@v1.4.1': [
    'config/crd/standard/gateway.networking.k8s.io_gateways.yaml',
    'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml',
  ],
  'github.com/kedacore/keda/v2@v2.16.1': [
    'config/crd/bases/keda.sh_scaledobjects.yaml',
    'config/crd/bases/keda.sh_triggerauthentications.yaml',
  ],
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': [
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  ],
}

const DNS_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const DNS_NAME = `${DNS_LABEL}(\\.${DNS_LABEL})*`
const LABEL = '[A-Za-z0-9]([-\\w.]{0,61}[A-Za-z0-9])?'
const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

/** What servers ask of names, labels and quantities, and do not publish. */
const UNPUBLISHED: Readonly<Record<string, SchemaObject>> = {
  [OBJECT_META]: {
    properties: {
      name: { pattern: `^${DNS_NAME}$`, maxLength: 253 },
      labels: {
        propertyNames: { pattern: `^(${DNS_NAME}/)?${LABEL}$` },
        additionalProperties: { pattern: `^(${LABEL})?$` },
      },
    },
  },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    pattern: '^[+-]?(\\d+\\.?\\d*|\\.\\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\\d+)?$',
  },
}

interface Published {
  readonly components: { readonly schemas: Readonly<Record<string, SchemaObject>> }
}
interface Definition {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: SchemaObject } }[]
  }
}
interface Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** What says which kind a manifest is of. */
interface AnyManifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata?: { readonly name?: string }
}

/**
 * Returns a function that tells why a server would refuse a manifest, with strict validation of its members. Fetches
 * the schemas when they are not there yet.
 */
export async function readSchemas(): Promise<(manifest: AnyManifest) => string[]> {
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    useDefaults: true,
    formats: { 'int-or-string': true },
    code: { regExp: Object.assign(expressionOf, { code: 'RegExp' }) },
  })
  ajvFormats.default(ajv)
  ajv.addKeyword({ keyword: 'x-kubernetes-list-map-keys', type: 'array', validate: haveOwnKeys })
  ajv.addKeyword({ keyword: 'x-kubernetes-validations', compile: rulesOf, errors: true })
  /** Where the schema of a kind is, by its version and name. */
  const places = new Map<string, string>()

  const folder = join(await goModule(PUBLISHED), 'pkg/openapiclient/builtins', KUBERNETES)
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.json')) continue
    const { components } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Published
    const $id = `/${file}`
    const schemas = Object.entries(components.schemas).map(([name, schema]) => {
      const kinds: readonly Kind[] = schema['x-kubernetes-group-version-kind'] ?? []
      for (const { group, version, kind } of kinds)
        places.set(`${posix.join(group, version)} ${kind}`, `${$id}#/components/schemas/${name}`)
      // Its defaults are those of Go, such as the port 0.
      const closed = strict(schema, false)
      return [name, name in UNPUBLISHED ? { ...closed, allOf: [UNPUBLISHED[name]] } : closed]
    })
    ajv.addSchema({ $id, components: { schemas: Object.fromEntries(schemas) } })
  }
  for (const [module, files] of Object.entries(DEFINITIONS)) {
    const source = await goModule(module)
    for (const file of files) {
      const { spec } = parse(readFileSync(join(source, file), 'utf8')) as Definition
      for (const { name, schema } of spec.versions) {
        const kind = `${spec.group}/${name} ${spec.names.kind}`
        const { properties, ...rest } = strict(schema.openAPIV3Schema, true)
        const metadata = { $ref: `/api/v1.json#/components/schemas/${OBJECT_META}` }
        ajv.addSchema({ ...rest, properties: { ...properties, metadata } }, kind)
        places.set(kind, kind)
      }
    }
  }

  return (manifest) => {
    const { apiVersion, kind, metadata } = manifest
    const validate = ajv.getSchema(places.get(`${apiVersion} ${kind}`) ?? '')
    const name = `${kind} ${metadata?.name}`
    if (validate === undefined) return [`${name}: no server has the kind ${apiVersion} ${kind}`]
    const completed = structuredClone(manifest)
    // Puts defaults in, which rules read.
    validate(completed)
    validate(completed)
    return (validate.errors ?? []).map(
      ({ instancePath, message, params: { additionalProperty } }) =>
        `${name}: ${[instancePath, additionalProperty].filter(Boolean).join('/')} ${message}`,
    )
  }
}

/** A schema that refuses members which it does not name. Where schemas are only combined, they name no members. */
function strict(schema: SchemaObject, hasDefaults: boolean): SchemaObject {
  const { default: preset, properties, items, additionalProperties, ...rest } = schema
  const inner = (each: SchemaObject) => strict(each, hasDefaults)
  const isOpen = additionalProperties !== undefined || rest['x-kubernetes-preserve-unknown-fields'] === true
  return {
    ...rest,
    ...(hasDefaults && preset !== undefined && { default: preset }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries<SchemaObject>(properties).map(([name, member]) => [name, inner(member)]),
      ),
    }),
    ...(items && { items: inner(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: inner(additionalProperties) }),
    ...(rest.type === 'object' && !isOpen && { additionalProperties: false }),
    ...(rest['x-kubernetes-list-type'] === 'set' && { uniqueItems: true }),
  }
}

/** Patterns are those of Go, which begin with `(?i)` where others have a flag. */
function expressionOf(pattern: string, flags: string): RegExp {
  const [, start = '', rest = ''] = /^(\^?)\(\?i\)(.*)$/s.exec(pattern) ?? []
  return rest === '' ? new RegExp(pattern, flags) : new RegExp(start + rest, `${flags}i`)
}

/** Whether no two members of a list are the same in these keys. */
function haveOwnKeys(keys: readonly string[], members: readonly Readonly<Record<string, unknown>>[]): boolean {
  return new Set(members.map((member) => JSON.stringify(keys.map((key) => member[key])))).size === members.length
}

const EXPRESSIONS = celEnv()

type KeywordFunction = ReturnType<NonNullable<FuncKeywordDefinition['compile']>>

/** Checks the rules that a definition has in the Common Expression Language, but those of changes. */
function rulesOf(rules: readonly { readonly rule: string; readonly message?: string }[]): KeywordFunction {
  const planned = rules
    .filter(({ rule }) => !rule.includes('oldSelf'))
    .map(({ rule, message = rule }) => ({ evaluate: plan(EXPRESSIONS, parseExpression(rule)), message }))
  const validate: KeywordFunction = (self) => {
    validate.errors = planned.flatMap(({ evaluate, message }) =>
      evaluate({ self }) === true ? [] : { message, params: {} },
    )
    return validate.errors.length === 0
  }
  return validate
}
