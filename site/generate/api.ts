/** Writes the API reference: a page for each entry point of each package and for each of its names, from types and docstrings. */
import { join } from 'node:path';
import {
  Application,
  Comment,
  DeclarationReflection,
  PageEvent,
  type ProjectReflection,
  type Reflection,
  ReflectionKind,
} from 'typedoc';
import { repositoryAddress } from '../addresses.ts';
import { type EntryPoint, entryPoints } from '../entry-points.ts';
import { repository } from '../pages.ts';
import { completePage, pluginName } from './api-page.ts';
import { examplesOfNames } from './examples.ts';

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
    // Paths begin in `packages`, the folder that all sources share.
    sourceLinkTemplate: `${repositoryAddress}/blob/main/packages/{path}#L{line}`,
    readme: 'none',
    name: 'Reference',
    logLevel: 'Warn',
    ...{
      out: folder,
      router: 'member',
      entryFileName: 'index',
      hidePageHeader: true,
      pageTitleTemplates: { index: '{projectName}', module: '{name}', member: '{name}' },
      tableColumnSettings: { hideSources: true, hideInherited: true, hideOverrides: true },
      useCodeBlocks: true,
      indexFormat: 'table',
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
  completePages(app, entries);
  await app.generateOutputs(project);
  if (app.logger.hasWarnings() || app.logger.hasErrors())
    throw new Error('TypeDoc warned, as written above. Correct the docstrings.');
}

/** Adds to each written page what TypeDoc does not know. */
function completePages(app: Application, entries: readonly EntryPoint[]): void {
  const context = {
    addressOf: (reflection: Reflection) => `/api/${app.renderer.router!.getFullUrl(reflection)}`,
    folderOf: (entryPoint: string) => entries.find(({ name }) => name === entryPoint)!.folder,
    examples: examplesOfNames(),
  };
  app.renderer.on(PageEvent.END, (page) => {
    const { model, contents } = page;
    if (contents !== undefined && model instanceof DeclarationReflection)
      page.contents = completePage(contents, model, context);
  });
}

/** Gives modules the names by which programs import them, and their default exports the names of the plugins. */
function nameModules(project: ProjectReflection, entries: readonly EntryPoint[]): void {
  for (const module of project.children ?? []) {
    const at = project.files.getReflectionPath(module);
    const entry = entries.find(({ file }) => join(repository, file) === at);
    if (entry === undefined) throw new Error(`No entry point is at ${at}.`);
    module.name = entry.name;
    for (const child of module.children ?? []) {
      if (child.name === 'default') child.name = pluginName(entry.name);
      takeComment(module, child);
    }
    module.comment ??= new Comment([{ kind: 'text', text: entry.summary }]);
  }
}

/** The first line of an entry point is about the module; TypeDoc takes it for the comment of the first export. */
function takeComment(module: DeclarationReflection, child: DeclarationReflection): void {
  const [first] = child.comment?.summary ?? [];
  if (!first?.text.startsWith(`${module.name}:`)) return;
  first.text = first.text
    .slice(module.name.length + 1)
    .replace(/^\s*\w/, (letter) => letter.trim().toUpperCase());
  module.comment = child.comment;
  delete child.comment;
}

/** TypeDoc has no name for a parameter that is destructured. Here these are settings by name. */
function nameSettings(project: ProjectReflection): void {
  for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter))
    if (parameter.name.startsWith('__namedParameters')) parameter.name = 'options';
}
