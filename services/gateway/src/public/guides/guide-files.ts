/** The documents for partners, in the order of the list. Imports nothing, since images are assembled by it. */
export const GUIDES = ['quickstart', 'webhooks', 'events', 'orders', 'imports', 'apps', 'errors', 'changelog'] as const
export type GuideName = (typeof GUIDES)[number]

/** The path of a guide from the repository's root, and from the root of the gateway's image. */
export const guideFile = (name: GuideName): string => `docs/${name}.md`
