/** An import, as the paths of its files name it. They are made of ids, and of nothing that the client sent. */
interface ImportPlace {
  readonly workspaceId: string
  readonly id: string
}

/** The folder of all files of an import. */
export const folderOf = ({ workspaceId, id }: ImportPlace): string => `${workspaceId}/${id}`

/** Where the uploaded file is stored. */
export const uploadPath = (place: ImportPlace): string => `${folderOf(place)}/upload.csv`

/** The files that a validation makes, by their names. */
export const FINDINGS = { rows: 'rows.ndjson', errors: 'errors.csv', corrected: 'corrected.csv' } as const
type Finding = keyof typeof FINDINGS
export const FINDING_NAMES = Object.keys(FINDINGS) as Finding[]

/** Where a file of a validation is stored. Each claim has its own, so that no other replica writes over them. */
export const findingPath = ({ claim, ...place }: ImportPlace & { readonly claim: string }, finding: Finding) =>
  `${folderOf(place)}/${claim}-${FINDINGS[finding]}`

/** The files of a claim's validation; none without a claim. */
export const findingPaths = ({ claim, ...place }: ImportPlace & { readonly claim: string | null }): string[] =>
  claim === null ? [] : FINDING_NAMES.map((name) => findingPath({ ...place, claim }, name))
