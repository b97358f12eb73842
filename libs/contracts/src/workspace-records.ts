import { z } from 'zod'

/** The data of a change of a workspace: the record itself names the workspace and says what became of it. */
export const WorkspaceChanged = z.strictObject({})
