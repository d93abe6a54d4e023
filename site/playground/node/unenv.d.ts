/** unenv has no types for the modules that nobody should import by hand. */
declare module 'unenv/node/*';
