/** Writes the API reference: a page for each entry point of each package, from its types and docstrings. */
import { join } from 'node:path';
import { Application, type ProjectReflection, ReflectionKind } from 'typedoc';
import { type EntryPoint, entryPoints } from '../entry-points.ts';
import { repository } from '../pages.ts';

/** @throws Error if TypeDoc warns of anything. */
export async function writeApi(folder: string): Promise<void> {
  const entries = entryPoints();
  const app = await Application.bootstrapWithPlugins({
    entryPoints: entries.map(({ file }) => join(repository, file)),
    tsconfig: join(import.meta.dirname, '../tsconfig.api.json'),
    plugin: ['typedoc-plugin-markdown'],
    // `npm run check` checks the types, with the TypeScript that compiles them.
    skipErrorChecking: true,
    // The standard explains each of its types.
    packagesRequiringDocumentation: ['@toolenv/core'],
    requiredToBeDocumented: ['Class', 'Interface', 'TypeAlias', 'Variable'],
    validation: { notDocumented: true, notExported: false, invalidLink: true },
    disableGit: true,
    disableSources: true,
    readme: 'none',
    name: 'API reference',
    logLevel: 'Warn',
    ...{
      out: folder,
      router: 'module',
      entryFileName: 'index',
      hidePageHeader: true,
      hideBreadcrumbs: true,
      useCodeBlocks: true,
      parametersFormat: 'table',
      interfacePropertiesFormat: 'table',
      classPropertiesFormat: 'table',
      typeDeclarationFormat: 'table',
    },
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('TypeDoc could not read the sources.');
  nameModules(project, entries);
  nameSettings(project);
  app.validate(project);
  await app.generateOutputs(project);
  if (app.logger.hasWarnings() || app.logger.hasErrors())
    throw new Error('TypeDoc warned, as written above. Correct the docstrings.');
}

/** Gives modules the names by which programs import them. */
function nameModules(project: ProjectReflection, entries: readonly EntryPoint[]): void {
  for (const module of project.children ?? []) {
    const at = project.files.getReflectionPath(module);
    const entry = entries.find(({ file }) => join(repository, file) === at);
    if (entry === undefined) throw new Error(`No entry point is at ${at}.`);
    module.name = entry.name;
  }
}

/** TypeDoc has no name for a parameter that is destructured. Here these are settings by name. */
function nameSettings(project: ProjectReflection): void {
  for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter))
    if (parameter.name.startsWith('__namedParameters')) parameter.name = 'options';
}
