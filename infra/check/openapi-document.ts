export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly 'x-known-values'?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}
export interface Body {
  readonly $ref?: string
  readonly required?: boolean
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}
export interface Parameter {
  readonly $ref?: string
  readonly name?: string
  readonly in?: string
  readonly required?: boolean
  readonly schema?: Schema
}
export interface Entry {
  readonly operationId?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Body>>
}
export type Paths = Readonly<Record<string, Readonly<Record<string, Entry>>>>
export interface ApiDocument {
  readonly info?: { readonly version?: string }
  readonly paths: Paths
  readonly webhooks?: Paths
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>> & {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses?: Readonly<Record<string, Body>>
  }
}

/** Who writes a schema's values: clients send inputs, and read answers and events. */
export type Direction = 'sent' | 'read'
